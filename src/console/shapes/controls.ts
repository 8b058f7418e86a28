export interface RecipientRow {
  recipient: string;
  blocked_at: string;
}

export interface ReconciliationRow {
  run_id: string;
  actor: string;
  from: string;
  until: string;
  started_at: string;
  finished_at: string | null;
  orders: number | null;
  payments: number | null;
  differences: number | null;
  /** False if there are more differences than the run lists. */
  is_complete: boolean;
}

export interface ReconciliationDetail {
  run: ReconciliationRow;
  differences: {
    kind: string;
    payment_id: string | null;
    status: string | null;
    amount_rub: string | null;
    order_id: string | null;
    order_state: string | null;
    order_rub: string | null;
  }[];
}
