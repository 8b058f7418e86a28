<?php

declare(strict_types=1);

namespace Kopeck\Tests;

use Kopeck\SignatureException;
use Kopeck\Webhook;

const NOW = 1_794_736_800;
const BODY = '{"id":"evt_1","data":{"recipient":"ООО «Ромашка»"}}';

$secret = 'whsec_' . base64_encode('a secret of the endpoint');

$sign = fn (string $by, int $at = NOW, string $body = BODY) => "t=$at,v1=" . hash_hmac('sha256', "$at.$body", $by);

$standard = function (int $at = NOW) use ($secret): array {
    $key = (string) base64_decode(substr($secret, 6), true);
    $digest = base64_encode(hash_hmac('sha256', "evt_1.$at." . BODY, $key, true));
    return ['Webhook-Id' => 'evt_1', 'Webhook-Timestamp' => "$at", 'Webhook-Signature' => "v1a,AAAA v1,$digest"];
};

/** The id of the event, or the code of the refusal. */
$codeOf = function (mixed $header, string $body = BODY, mixed $by = null) use ($secret): string {
    try {
        return Webhook::verify($body, $header, $by ?? $secret, now: fn (): float => NOW)['id'];
    } catch (SignatureException $error) {
        return $error->errorCode;
    }
};

return [
    'what the service signed is accepted' => function () use ($secret, $sign, $codeOf) {
        $good = $sign($secret);
        $second = explode(',', $good)[1];
        $headers = [$good, $sign($secret, NOW - 299), $sign($secret, NOW + 299), "$good,v9=x"];
        foreach ([...$headers, $sign('whsec_old') . ",$second"] as $header) {
            same('evt_1', $codeOf($header));
        }
        same('evt_1', $codeOf($sign('whsec_old'), by: [$secret, 'whsec_old']));
    },
    'anything else is refused with a code' => function () use ($secret, $sign, $codeOf) {
        $good = $sign($secret);
        $cases = [
            [null, 'signature_missing'],
            ['', 'signature_missing'],
            ['t=,v1=', 'signature_malformed'],
            ["$good,t=1", 'signature_malformed'],
            [str_replace('v1=', 'v2=', $good), 'signature_malformed'],
            [$sign('whsec_other'), 'signature_mismatch'],
            [str_replace('t=' . NOW, 't=' . (NOW + 1), $good), 'signature_mismatch'],
            [$sign($secret, NOW - 301), 'timestamp_out_of_tolerance'],
            [$sign($secret, NOW + 301), 'timestamp_out_of_tolerance'],
        ];
        foreach ($cases as [$header, $code]) {
            same($code, $codeOf($header));
        }
        same('signature_mismatch', $codeOf($good, BODY . ' '));
        same('body_malformed', $codeOf($sign($secret, NOW, 'no JSON'), 'no JSON'));
        same('body_malformed', $codeOf($sign($secret, NOW, '"text"'), '"text"'));
    },
    'all headers may be passed, in any case' => function () use ($secret, $sign, $standard, $codeOf) {
        foreach (['X-Service-Signature', 'x-service-signature', 'X-SERVICE-SIGNATURE'] as $name) {
            same('evt_1', $codeOf([$name => $sign($secret), 'other' => 'x']));
        }
        same('signature_missing', $codeOf([]));
        same('evt_1', $codeOf($standard()));
        same('evt_1', $codeOf($standard(), by: rtrim(strtr($secret, '+/', '-_'), '=')));
        same('timestamp_out_of_tolerance', $codeOf($standard(NOW - 301)));
        same('signature_malformed', $codeOf(['Webhook-Id' => ''] + $standard()));
        same('signature_mismatch', $codeOf(['Webhook-Id' => 'evt_2'] + $standard()));
        // Its own header decides where there are both.
        same('signature_mismatch', $codeOf(['X-Service-Signature' => $sign('whsec_other')] + $standard()));
    },
    'wrong use is refused at once' => function () use ($secret, $sign, $standard, $codeOf) {
        foreach (['', [], ['x', ''], [null]] as $wrong) {
            thrown(\InvalidArgumentException::class, fn () => Webhook::verify(BODY, $sign($secret), $wrong));
        }
        thrown(\InvalidArgumentException::class, fn () => $codeOf($standard(), by: 'whsec_not base64!'));
    },
];
