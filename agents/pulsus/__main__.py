"""`python -m pulsus`, and the console script."""

from pulsus.cli.main import main

if __name__ == "__main__":
    main()
