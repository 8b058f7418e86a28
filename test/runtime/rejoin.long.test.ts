import { testRejoining } from './rejoin.ts';

testRejoining(1);
