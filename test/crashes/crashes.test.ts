import { frozen, killed, killedTwice } from './cells.ts';
import { testCells } from './matrix.ts';

await testCells({ killed, killedTwice: killedTwice.slice(0, 1), frozen });
