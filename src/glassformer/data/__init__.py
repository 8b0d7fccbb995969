"""Where sentences, tables, series and images come from: files of one's own and the sets of the catalogue."""
