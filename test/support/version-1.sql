-- A file of schema version 1, with runs as Holdfast wrote them then: a loop with a snapshot, two runs with the same long
-- value, a parent that has heard from one child and waits for another. Long texts of one letter are written as printf.
PRAGMA page_size = 16384;
PRAGMA journal_mode = WAL;
BEGIN;

CREATE TABLE runs (
  n INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  workflow TEXT NOT NULL,
  version TEXT NOT NULL,
  lineage TEXT NOT NULL,
  parent_run TEXT,
  parent_step TEXT,
  created_at INTEGER NOT NULL,
  status TEXT NOT NULL,
  control TEXT NOT NULL,
  waiting TEXT NOT NULL,
  wake_at INTEGER,
  recoveries INTEGER NOT NULL,
  steps_done INTEGER NOT NULL,
  tokens INTEGER NOT NULL,
  cost_usd REAL NOT NULL,
  error TEXT,
  updated_at INTEGER NOT NULL,
  finished_at INTEGER,
  snapshot_seq INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  owner TEXT,
  token TEXT,
  claim_until INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  head TEXT NOT NULL
);
CREATE INDEX runs_by_age ON runs (created_at DESC, id DESC);
CREATE INDEX runs_by_status ON runs (status, created_at DESC, id DESC);
CREATE INDEX runs_by_workflow ON runs (workflow, created_at DESC, id DESC);
CREATE INDEX runs_by_parent ON runs (parent_run, created_at DESC, id DESC) WHERE parent_run IS NOT NULL;
CREATE INDEX runs_due ON runs (wake_at, id) WHERE wake_at IS NOT NULL;
CREATE TABLE journal (
  id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  count INTEGER NOT NULL,
  head TEXT NOT NULL,
  data TEXT
);
CREATE UNIQUE INDEX journal_by_run ON journal (run, seq);
CREATE TABLE blobs (n INTEGER PRIMARY KEY, hash TEXT NOT NULL UNIQUE, data TEXT NOT NULL);
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

INSERT INTO meta VALUES
  ('incarnation', 'incarnation-of-the-version-1-fixture'),
  ('secret', 'secret-of-the-version-1-fixture-file');

INSERT INTO runs VALUES
  (1, 'pages-1', 'pages', '1', 'pages-1', NULL, NULL, 1800000000000, 'waiting', 'none', '[{"kind":"gate","step":"publish","since":1800000000000}]', NULL, 0, 6, 0, 0.0, NULL, 1800000000100, NULL, 20, 1, NULL, NULL, 0, 24, '_VDl5kpjaxGWXyRXLCiYc4d6iOTxDWRT2HULNEMDVZM'),
  (2, 'write-1', 'write', '1', 'write-1', NULL, NULL, 1800000002000, 'completed', 'none', '[]', NULL, 0, 1, 0, 0.0, NULL, 1800000002000, 1800000002000, 0, 1, NULL, NULL, 0, 5, 'QZc2rn60-D8obdNuawvZIlBua9mBy5t4Gq9ES8ULJ-A'),
  (3, 'report-1', 'report', '1', 'report-1', NULL, NULL, 1800000004000, 'waiting', 'none', '[{"kind":"child","detail":"f19befqv4jrmfp0kb4sp77wgyt","step":"check","since":1800000004000}]', NULL, 0, 1, 0, 0.0, NULL, 1800000004100, NULL, 0, 1, NULL, NULL, 0, 6, 'hk8uhoQX_O7ZQFBt0YQIr6TvZ-oYDdly1cDQXg-Ck-w'),
  (4, 'ryksrdrz1empbnv5983hqn1tqt', 'write', '1', 'ryksrdrz1empbnv5983hqn1tqt', 'report-1', 'long', 1800000004000, 'completed', 'none', '[]', NULL, 0, 1, 0, 0.0, NULL, 1800000004000, 1800000004000, 0, 1, NULL, NULL, 0, 6, 'oCdj1eg2ONQDcDi5T-DQM7BE8r7BoOK7FZo6EwFhcjQ'),
  (5, 'f19befqv4jrmfp0kb4sp77wgyt', 'check', '1', 'f19befqv4jrmfp0kb4sp77wgyt', 'report-1', 'check', 1800000004000, 'waiting', 'none', '[{"kind":"gate","step":"good","since":1800000004000}]', NULL, 0, 0, 0, 0.0, NULL, 1800000004100, NULL, 0, 1, NULL, NULL, 0, 4, 'xLm1h1r5UwAmTvzJ-IOAnOPQf3REma42zJecMOKGpX0');

INSERT INTO journal VALUES
  (1, 1, 1, 2, '{"p":"","t":1800000000000,"e":1,"d":"5_bAEXdujbfNMwtUF0_Xb30CFrYSOHpf_PuB5vCRloM","v":[["run_created","",{"workflow":"pages","version":"1","lineage":"pages-1"},1],["run_claimed","",{"owner":"fixture","recovery":0},0]]}', '6'),
  (2, 1, 3, 2, '{"p":"w3CmIJcWBl4-fNNM1qdsaZLojW3DEh0-X0aVYvcD0uU","t":1800000000000,"e":1,"d":"5BOi8Z1_crRUCNu_afp3CTeidyelOb9ajhs0dpoBWFY","v":[["memory_written","memory:style",{"name":"style"},1502],["step_started","read[0]/page",{},0]]}', '"' || printf('%.*c', 1500, 's') || '"'),
  (3, 1, 5, 3, '{"p":"a427TbVqCpDcvDmLohNZV9m_usUTF_MosVYXFTOJm38","t":1800000000000,"e":1,"d":"9lQxD21RS_j2QClCYPVXRl0e1C8mW-BqDXGthZLakJU","b":["cHeeAEMnO_uPpjNFctlHGQr-EKu-vtCokDdA2mGcg-k"],"v":[["step_completed","read[0]/page",{},7022],["loop_advanced","read",{"iteration":0},96],["step_started","read[1]/page",{},0]]}', '["' || printf('%.*c', 1000, 'p') || '","' || printf('%.*c', 1000, 'p') || '","' || printf('%.*c', 1000, 'p') || '","' || printf('%.*c', 1000, 'p') || '","' || printf('%.*c', 1000, 'p') || '","' || printf('%.*c', 1000, 'p') || '","' || printf('%.*c', 1000, 'p') || '"]{"state":{"draft":{"$":["Blob","cHeeAEMnO_uPpjNFctlHGQr-EKu-vtCokDdA2mGcg-k"]},"notes":["0 7"]}}'),
  (4, 1, 8, 3, '{"p":"HLY_fEHCWtSohVNc-pQXcibKQRB7Im36Glkp5lnm6vA","t":1800000000000,"e":1,"d":"r5wncpO3n11kSkPX6SleMt3mqGxddnWEJGpWqegoDhM","v":[["step_completed","read[1]/page",{},7022],["loop_advanced","read",{"iteration":1},39],["step_started","read[2]/page",{},0]]}', '["' || printf('%.*c', 1000, 'p') || '","' || printf('%.*c', 1000, 'p') || '","' || printf('%.*c', 1000, 'p') || '","' || printf('%.*c', 1000, 'p') || '","' || printf('%.*c', 1000, 'p') || '","' || printf('%.*c', 1000, 'p') || '","' || printf('%.*c', 1000, 'p') || '"]{"patches":[["add",["notes",1],"1 7"]]}'),
  (5, 1, 11, 3, '{"p":"-zF_mQjr4QCA2TjNXC0BFdHvLvnFiImisLPf0pzCnWY","t":1800000000000,"e":1,"d":"NIcOiyEOCGomvRKLhd-DQypx5ESy-rfHaHzP_ERNplo","v":[["step_completed","read[2]/page",{},7022],["loop_advanced","read",{"iteration":2},39],["step_started","read[3]/page",{},0]]}', '["' || printf('%.*c', 1000, 'p') || '","' || printf('%.*c', 1000, 'p') || '","' || printf('%.*c', 1000, 'p') || '","' || printf('%.*c', 1000, 'p') || '","' || printf('%.*c', 1000, 'p') || '","' || printf('%.*c', 1000, 'p') || '","' || printf('%.*c', 1000, 'p') || '"]{"patches":[["add",["notes",2],"2 7"]]}'),
  (6, 1, 14, 3, '{"p":"8cUpkx7T-jkrjlH2PcdWZBW5RndZX_vBNQ_JA4c0bi4","t":1800000000000,"e":1,"d":"OwKT-zOP79TCLN_Rnc-EZJv3Q6l2BVPXDMYDwuW9Yrg","v":[["step_completed","read[3]/page",{},7022],["loop_advanced","read",{"iteration":3},39],["step_started","read[4]/page",{},0]]}', '["' || printf('%.*c', 1000, 'p') || '","' || printf('%.*c', 1000, 'p') || '","' || printf('%.*c', 1000, 'p') || '","' || printf('%.*c', 1000, 'p') || '","' || printf('%.*c', 1000, 'p') || '","' || printf('%.*c', 1000, 'p') || '","' || printf('%.*c', 1000, 'p') || '"]{"patches":[["add",["notes",3],"3 7"]]}'),
  (7, 1, 17, 3, '{"p":"zgJDkjplp4pSb9QuoPDecXmSsYJvhwXRvBPOxeiEj08","t":1800000000000,"e":1,"d":"dIaQB6UYgL8NF4Mnm5BUGmUpuUU7WY4haqSpkJZUpqc","v":[["step_completed","read[4]/page",{},7022],["loop_advanced","read",{"iteration":4},39],["step_started","read[5]/page",{},0]]}', '["' || printf('%.*c', 1000, 'p') || '","' || printf('%.*c', 1000, 'p') || '","' || printf('%.*c', 1000, 'p') || '","' || printf('%.*c', 1000, 'p') || '","' || printf('%.*c', 1000, 'p') || '","' || printf('%.*c', 1000, 'p') || '","' || printf('%.*c', 1000, 'p') || '"]{"patches":[["add",["notes",4],"4 7"]]}'),
  (8, 1, 20, 3, '{"p":"v0Ble-zAO3bxqYtU9ctVAUJg_6d43IWbBaFwvuOBy-4","t":1800000000000,"e":1,"d":"Rgtu-YOGZ1DzbM2amcc9TXnizyHUnHi-hswOzjjtiBc","v":[["snapshot_taken","",{},551],["step_completed","read[5]/page",{},7022],["loop_advanced","read",{"iteration":5,"done":true},39]]}', '{"input":"6","root":{"records":[],"notes":[["memory:style",3,null]],"loops":[["read",5,false,18,{"draft":{"$":["Blob","cHeeAEMnO_uPpjNFctlHGQr-EKu-vtCokDdA2mGcg-k"]},"notes":["0 7","1 7","2 7","3 7","4 7"]}]],"scopes":[["read[5]",{"records":[["page",{"status":"started","type":"call","effect":"repeatable","attempt":1,"call":1,"since":1800000000000,"failures":0,"waitedMs":0,"seq":19}]],"notes":[],"loops":[],"scopes":[]}]]},"signals":[],"undoable":[],"memory":[[3,"memory:style","style",{"$":["Blob","5BOi8Z1_crRUCNu_afp3CTeidyelOb9ajhs0dpoBWFY"]}]]}["' || printf('%.*c', 1000, 'p') || '","' || printf('%.*c', 1000, 'p') || '","' || printf('%.*c', 1000, 'p') || '","' || printf('%.*c', 1000, 'p') || '","' || printf('%.*c', 1000, 'p') || '","' || printf('%.*c', 1000, 'p') || '","' || printf('%.*c', 1000, 'p') || '"]{"patches":[["add",["notes",5],"5 7"]]}'),
  (9, 1, 23, 1, '{"p":"jgwuOY9zyOVcJ54d717xQzHy9HJzyy0NKatdaOS2cmY","t":1800000000000,"e":1,"d":"BTR4-6erZc-npDT7NMYyewMvr3JVhaeSq-LUfoiavXg","v":[["step_started","publish",{"type":"gate","args":"0VpN4i0nVpEeP71xnmWZRWf52RhXN2QSAQZiSP6MXLw"},64]]}', '{"show":{"$":["undefined"]},"choices":["yes","no"],"text":false}'),
  (10, 1, 24, 1, '{"p":"JFem5ESgC2eQtkjcaTdtcGDLg1cOtGS94NQwfrCY3CQ","t":1800000000100,"e":1,"v":[["run_waiting","",{"waiting":[{"kind":"gate","step":"publish","since":1800000000000}]},0]]}', NULL),
  (11, 2, 1, 2, '{"p":"","t":1800000002000,"e":1,"d":"-9yQcqo9G5e93hsY1bq-7focNRnV5RpfkFZ8573YZYk","v":[["run_created","",{"workflow":"write","version":"1","lineage":"write-1"},3],["run_claimed","",{"owner":"fixture","recovery":0},0]]}', '"l"'),
  (12, 2, 3, 1, '{"p":"WGy_LXcGWKgryVKDQ49GS24KyxnrqD7FdsopSNie9HY","t":1800000002000,"e":1,"v":[["step_started","text",{},0]]}', NULL),
  (13, 2, 4, 2, '{"p":"iGsea8QXUciFxY9Wy7bqZtbx9QQt0z_rcpUeKLw7u_4","t":1800000002000,"e":1,"v":[["step_completed","text",{},"DNIysrPswLNmaKKkA3EtR2fSQKMBSr8ugN1nrVslsh0"],["run_completed","",{},"DNIysrPswLNmaKKkA3EtR2fSQKMBSr8ugN1nrVslsh0"]]}', NULL),
  (14, 3, 1, 2, '{"p":"","t":1800000004000,"e":1,"d":"dCNOmK_nSY-12vHzasLXiswzlGT5UHA7jAGYkvmCuQs","v":[["run_created","",{"workflow":"report","version":"1","lineage":"report-1"},4],["run_claimed","",{"owner":"fixture","recovery":0},0]]}', 'null'),
  (15, 3, 3, 1, '{"p":"3sta9IKPFnej2_W4Mup0BjKfNPvvO4VK25YKl8byokc","t":1800000004000,"e":1,"v":[["step_started","long",{"type":"child","child":"ryksrdrz1empbnv5983hqn1tqt"},0]]}', NULL),
  (16, 4, 1, 2, '{"p":"","t":1800000004000,"e":1,"d":"-9yQcqo9G5e93hsY1bq-7focNRnV5RpfkFZ8573YZYk","v":[["run_created","",{"workflow":"write","version":"1","lineage":"ryksrdrz1empbnv5983hqn1tqt","parent":{"runId":"report-1","step":"long"}},3],["run_claimed","",{"owner":"fixture","recovery":0},0]]}', '"l"'),
  (17, 4, 3, 1, '{"p":"DAnol7eL9eb-gHJBa48ThCjh1Ujd5cHZiWv8U0p5S_k","t":1800000004000,"e":1,"v":[["step_started","text",{},0]]}', NULL),
  (18, 4, 4, 2, '{"p":"hLtfoig3uw0-nipDig-CQZGo2QSzHCwfTm9LHTz0m0Q","t":1800000004000,"e":1,"v":[["step_completed","text",{},"DNIysrPswLNmaKKkA3EtR2fSQKMBSr8ugN1nrVslsh0"],["run_completed","",{},"DNIysrPswLNmaKKkA3EtR2fSQKMBSr8ugN1nrVslsh0"]]}', NULL),
  (19, 3, 4, 1, '{"p":"THU0CwJ_oVdmhWv53KapKiFFwlMGAC5yw5HeXhphItI","t":1800000004000,"e":1,"v":[["child_finished","long",{"child":"ryksrdrz1empbnv5983hqn1tqt","status":"completed"},"DNIysrPswLNmaKKkA3EtR2fSQKMBSr8ugN1nrVslsh0"]]}', NULL),
  (20, 4, 6, 1, '{"p":"Y_GOI76HfgZl9INlk9OP7IsMVeHMAnV6YAUDrh551Fk","t":1800000004000,"e":1,"v":[["parent_notified","",{},0]]}', NULL),
  (21, 3, 5, 1, '{"p":"oNanTKIIza4QnHBioIjVSbNif3DaifvlUFFkiu8g17A","t":1800000004000,"e":1,"v":[["step_started","check",{"type":"child","child":"f19befqv4jrmfp0kb4sp77wgyt"},0]]}', NULL),
  (22, 5, 1, 2, '{"p":"","t":1800000004000,"e":1,"d":"dCNOmK_nSY-12vHzasLXiswzlGT5UHA7jAGYkvmCuQs","v":[["run_created","",{"workflow":"check","version":"1","lineage":"f19befqv4jrmfp0kb4sp77wgyt","parent":{"runId":"report-1","step":"check"}},4],["run_claimed","",{"owner":"fixture","recovery":0},0]]}', 'null'),
  (23, 5, 3, 1, '{"p":"UaadZ6erlLulP_7ShNs9bDf6VagzVI4aLlJl3FFVWmU","t":1800000004000,"e":1,"d":"BTR4-6erZc-npDT7NMYyewMvr3JVhaeSq-LUfoiavXg","v":[["step_started","good",{"type":"gate","args":"0VpN4i0nVpEeP71xnmWZRWf52RhXN2QSAQZiSP6MXLw"},64]]}', '{"show":{"$":["undefined"]},"choices":["yes","no"],"text":false}'),
  (24, 3, 6, 1, '{"p":"b0WHrMeQo6UNkzKZaL9MVVnNqSGMf3v2O4Kqvl5MKvg","t":1800000004100,"e":1,"v":[["run_waiting","",{"waiting":[{"kind":"child","detail":"f19befqv4jrmfp0kb4sp77wgyt","step":"check","since":1800000004000}]},0]]}', NULL),
  (25, 5, 4, 1, '{"p":"boD61KtRdmqPpuYRo0q7Ba2PG5Vz-VMJ9AfabJbnRkY","t":1800000004100,"e":1,"v":[["run_waiting","",{"waiting":[{"kind":"gate","step":"good","since":1800000004000}]},0]]}', NULL);

INSERT INTO blobs VALUES
  (1, 'cHeeAEMnO_uPpjNFctlHGQr-EKu-vtCokDdA2mGcg-k', printf('%.*c', 1200, 'd')),
  (2, '5BOi8Z1_crRUCNu_afp3CTeidyelOb9ajhs0dpoBWFY', '"' || printf('%.*c', 1500, 's') || '"'),
  (3, 'DNIysrPswLNmaKKkA3EtR2fSQKMBSr8ugN1nrVslsh0', '"' || printf('%.*c', 9000, 'l') || '"'),
  (4, 'of-no-run', 'nobody names it');

PRAGMA application_id = 0x48467374;
PRAGMA user_version = 1;
COMMIT;
