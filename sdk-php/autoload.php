<?php

declare(strict_types=1);

// A few small files: they are loaded together, with Composer or without.
foreach (['exceptions', 'Http', 'Retries', 'Keys', 'Transport', 'Payments', 'Events', 'Webhook', 'Kopeck'] as $name) {
    require_once __DIR__ . "/src/$name.php";
}
