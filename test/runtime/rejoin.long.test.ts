import { testRejoining } from './rejoin.ts';

testRejoining('joins a newer history, and never goes back to an older one', 1);
