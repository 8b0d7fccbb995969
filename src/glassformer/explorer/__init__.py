"""The web explorer: a page that shows what any model computes, and the small server behind it."""
