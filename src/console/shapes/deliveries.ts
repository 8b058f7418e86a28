import type { DeliveryDetail as Detail, DeliveryRow as Row } from '../../web/index.ts';
import type { Mode } from './common.ts';

export interface DeliveryRow extends Row {
  partner_id: string;
  partner: string;
  mode: Mode;
  /** Null when the endpoint was removed. */
  endpoint: { url: string; state: 'active' | 'failing' | 'suspended' } | null;
}

export type DeliveryDetail = Detail<DeliveryRow>;
