"""How results look: one table for the terminal, for a notebook and for Markdown, in any width."""

from glassformer.show.markdown import prose_and_tables as prose_and_tables
from glassformer.show.sheet import Sheet as Sheet
from glassformer.show.sheet import as_html as as_html
from glassformer.show.sheet import as_text as as_text
from glassformer.show.signs import minus as minus
from glassformer.show.table import Column as Column
from glassformer.show.table import ColumnKind as ColumnKind
from glassformer.show.table import Styled as Styled
from glassformer.show.table import Table as Table
from glassformer.show.width import room as room
