-- One payment for pgbench; :accounts is given on its command line.
\set partner random(1, :accounts)
\set kopecks random(1000, 10000000)
\set number random(1, 9000000000000000)
SELECT reserve(:partner, 'key-' || :number, 'AD' || :number, :kopecks, :kopecks * 109, '91.575', '{"order":"1"}') AS payment \gset
SELECT settle(:payment::uuid);
