-- Whether the code of a live payment may be freed: not while the payment is unfinished. If there is no such payment, none can be
-- opened any more with its id: payments_open takes the same lock, and looks here after it.
CREATE OR REPLACE FUNCTION opening_void(partner uuid, payment uuid, at timestamptz) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  is_locked boolean := false;
BEGIN
  -- Looked at before the lock too: a payment may be unfinished for days, and its account is busy.
  LOOP
    IF EXISTS (SELECT FROM payments p WHERE p.partner_id = partner AND p.mode = 'live' AND p.id = payment
                  AND p.status = 'processing') THEN
      RETURN false;
    END IF;
    EXIT WHEN is_locked;
    PERFORM FROM accounts a WHERE a.partner_id = partner AND a.mode = 'live' FOR UPDATE;
    is_locked := true;
  END LOOP;
  IF NOT EXISTS (SELECT FROM all_payments p WHERE p.partner_id = partner AND p.mode = 'live' AND p.id = payment) THEN
    INSERT INTO void_openings (payment_id, partner_id, voided_at) VALUES (payment, partner, at) ON CONFLICT DO NOTHING;
  END IF;
  RETURN true;
END $$;
