"""Keys of a table: where a program connects (`connects`) and how long it runs (`lasts`).

Pure: parsing only. `destinations/` and `cost/` apply them to the words of a call.
"""
