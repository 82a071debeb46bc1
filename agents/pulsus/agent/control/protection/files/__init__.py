"""The files of Pulsus, and the files that a call reads or writes."""
