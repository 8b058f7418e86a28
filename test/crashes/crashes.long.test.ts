import { killedTwice } from './cells.ts';
import { testCells } from './matrix.ts';

await testCells({ killed: [], killedTwice: killedTwice.slice(1), frozen: [] });
