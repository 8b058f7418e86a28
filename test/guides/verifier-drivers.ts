import { sign } from '../../src/webhooks/delivery/sign.ts';

/** Webhooks that a verifier has to tell apart. */
export function webhookCases() {
  const nowSec = Math.floor(Date.now() / 1_000);
  const body = '{"id":"evt_1","data":{"recipient":"ООО «Ромашка»"}}';
  const [good, other] = [sign(['whsec'], nowSec, body), sign(['other'], nowSec, body)];
  const both = [sign(['other', 'whsec'], nowSec, body), sign(['whsec', 'other'], nowSec, body)];
  const at = (sec: number) => sign(['whsec'], sec, body);
  const bad = [
    other,
    at(nowSec - 400),
    at(nowSec + 400),
    good.replace(/t=\d+/, `t=${nowSec + 1}`),
    '',
    't=,v1=',
  ];
  return [
    ...[good, at(nowSec - 200), at(nowSec + 200), ...both].map(header => ({ body, header, isGood: true })),
    ...bad.map(header => ({ body, header, isGood: false })),
    { body: `${body} `, header: good, isGood: false },
  ];
}

/** A program for each `verify`, which prints its verdicts on the cases. */
export const verifierDrivers = {
  ts: {
    fileName: 'verify-driver.mjs',
    code: `import { verify } from './verify.ts';
const results = JSON.parse(process.env.CASES).map(({ body, header }) => {
  try { return verify(Buffer.from(body), header, 'whsec').id === 'evt_1'; } catch { return false; }
});
console.log(JSON.stringify(results));
`,
  },
  python: {
    fileName: 'verify_driver.py',
    code: `import json, os
from verify import verify
def check(case):
    try:
        return verify(case["body"].encode(), case["header"], "whsec")["id"] == "evt_1"
    except ValueError:
        return False
print(json.dumps([check(case) for case in json.loads(os.environ["CASES"])]))
`,
  },
  php: {
    fileName: 'verify-driver.php',
    code: `<?php
require 'verify.php';
echo json_encode(array_map(function ($case) {
    try {
        return verify($case['body'], $case['header'], 'whsec')['id'] === 'evt_1';
    } catch (UnexpectedValueException) {
        return false;
    }
}, json_decode(getenv('CASES'), true)));
`,
  },
  go: {
    fileName: 'main.go',
    code: `package main

import (
	"encoding/json"
	"os"
)

func main() {
	var cases []struct{ Body, Header string }
	if err := json.Unmarshal([]byte(os.Getenv("CASES")), &cases); err != nil {
		panic(err)
	}
	results := []bool{}
	for _, one := range cases {
		event, err := verify([]byte(one.Body), one.Header, "whsec")
		results = append(results, err == nil && event.ID == "evt_1")
	}
	json.NewEncoder(os.Stdout).Encode(results)
}
`,
  },
};
