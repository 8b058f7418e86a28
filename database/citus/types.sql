-- Results that functions on Citus keep between their statements.

CREATE TYPE public.payment_judgement AS (
  nth bigint, partner_id uuid, mode public.mode, id uuid, micro_usdt bigint, outcome public.payment_status, is_opened boolean,
  turn bigint, payments bigint, spent bigint, kept bigint, spent_so_far bigint, kept_so_far bigint, settled_so_far bigint,
  endings_so_far bigint, available bigint, held bigint, settled bigint, entry_count bigint, last_event_id bigint,
  entry_at timestamptz, kopecks bigint
);
CREATE TYPE public.payment_ending AS (
  nth bigint, partner_id uuid, mode public.mode, id uuid, status public.payment_status, qrc_id text, amount_kopecks bigint,
  created_at timestamptz, available bigint, held bigint, settled bigint, entry_count bigint, turnover_day date,
  last_event_id bigint, entry_at timestamptz, micro_usdt bigint, spent bigint
);
