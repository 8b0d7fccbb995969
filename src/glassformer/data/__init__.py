"""Where sentences, tables, series and images come from: your own files and the sets of the catalogue."""
