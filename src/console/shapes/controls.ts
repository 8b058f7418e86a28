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

export interface LostHistory {
  histories: {
    incarnation: number;
    cause: string;
    began_at: string;
    certain_at: string;
    /** Null: payments wait. */
    opened_at: string | null;
    listed_orders: number;
    recovered_payments: number;
    stray_orders: number;
  }[];
  recovered: {
    payment_id: string;
    partner: string;
    amount_rub: string;
    status: string;
    recovered_at: string;
  }[];
  stray: {
    order: string;
    state: string;
    amount_rub: string;
    created_at: string;
    /** Null: unknown, so all payments wait. */
    qrc_id: string | null;
    why: string;
  }[];
}
