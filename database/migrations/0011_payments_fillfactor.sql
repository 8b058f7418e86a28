-- The end of a live payment updates its row, and makes it longer. With a quarter of each page free, the rows of a page, which mostly end
-- together, did not fit into it: 55% of the updates were written to all indexes again. Now a page has space for all of its rows.
ALTER TABLE payments SET (fillfactor = 45);
