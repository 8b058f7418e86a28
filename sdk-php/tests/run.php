<?php

declare(strict_types=1);

/** `php tests/run.php`: runs the tests of both files, and exits with 1 if one fails. */

require __DIR__ . '/../autoload.php';
require __DIR__ . '/fake.php';

$failed = 0;
foreach (['client', 'webhook'] as $name) {
    foreach (require __DIR__ . "/$name.php" as $title => $test) {
        try {
            $test();
        } catch (Throwable $error) {
            $failed++;
            fwrite(STDERR, "FAILED $name: $title\n$error\n");
            continue;
        }
        echo "ok $name: $title\n";
    }
}
exit($failed === 0 ? 0 : 1);
