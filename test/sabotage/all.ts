import { accessSabotages } from './access.ts';
import { additionsSimulationSabotages } from './additions-simulation.ts';
import { approvalSabotages } from './approvals.ts';
import { archiveSabotages } from './archive.ts';
import { backupSabotages } from './backup.ts';
import { depositChainSabotages } from './deposit-chains.ts';
import { depositNodeSabotages } from './deposit-nodes.ts';
import { depositSimulationSabotages } from './deposit-simulation.ts';
import { depositSabotages } from './deposits.ts';
import { endpointSabotages } from './endpoints.ts';
import { gatewaySabotages } from './gateway.ts';
import { httpClientSabotages } from './http-client.ts';
import { imageSabotages } from './images.ts';
import { keySabotages } from './keys.ts';
import { lostHistorySabotages } from './lost-history.ts';
import { moneySabotages } from './money.ts';
import { openingSabotages } from './openings.ts';
import { portalSabotages } from './portal.ts';
import { quoteSabotages } from './quotes.ts';
import { refundSabotages } from './refunds.ts';
import { roleSabotages } from './roles.ts';
import { secretSabotages } from './secrets.ts';
import { serviceSabotages } from './service.ts';
import { testDataSabotages } from './test-data.ts';

export const sabotages = [
  ...moneySabotages,
  ...depositSabotages,
  ...depositChainSabotages,
  ...depositNodeSabotages,
  ...depositSimulationSabotages,
  ...refundSabotages,
  ...endpointSabotages,
  ...openingSabotages,
  ...imageSabotages,
  ...keySabotages,
  ...quoteSabotages,
  ...additionsSimulationSabotages,
  ...lostHistorySabotages,
  ...archiveSabotages,
  ...testDataSabotages,
  ...serviceSabotages,
  ...gatewaySabotages,
  ...httpClientSabotages,
  ...roleSabotages,
  ...approvalSabotages,
  ...accessSabotages,
  ...portalSabotages,
  ...backupSabotages,
  ...secretSabotages,
];
