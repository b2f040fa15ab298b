BEGIN TRANSACTION;
CREATE TABLE algorithms (
    id text primary key, project_id text not null, name text not null, algorithm_type text not null,
    algorithm_parameters text not null);
INSERT INTO "algorithms" VALUES('algorithm-c687d26d056d2e72bfc3','project-50ba8008db5a2a609a44','g1','G1','{"alpha":0.1,"dimensions":4,"epochs":1,"regularization":0.1}');
CREATE TABLE datasets (
    id text primary key, number integer not null unique, kind text not null, name text not null,
    num_shards bigint not null, attribute_schema text, deletions bigint not null, created_ts bigint not null);
INSERT INTO "datasets" VALUES('user-dataset-35c78a62e5c66287401e',1,'user','users',1,NULL,0,1794787356530);
INSERT INTO "datasets" VALUES('item-dataset-a883c07b4f70d9a02c56',2,'item','items',1,NULL,0,1794787356599);
INSERT INTO "datasets" VALUES('event-dataset-4ac921772136863e371f',3,'event','events',1,NULL,0,1794787356805);
CREATE TABLE deployments (
    project_id text primary key, job_id text not null, generator_model_id text not null, ranker_model_id text,
    qps integer not null);
INSERT INTO "deployments" VALUES('project-50ba8008db5a2a609a44','job-2d18dec9bcc8ce827ef0','model-cd2b9465e1c77521fe35',NULL,3);
CREATE TABLE events (
    seq integer primary key, dataset integer not null, event_id text not null, user_id text not null,
    item_id text not null, ts bigint not null, event_type text not null, event_value double precision not null,
    attributes text not null, unique (dataset, event_id));
INSERT INTO "events" VALUES(1,3,'e0','ada','lp-1',1700000000000,'purchase',1.0,'{}');
INSERT INTO "events" VALUES(2,3,'e1','ben','lp-6',1700000000001,'purchase',1.0,'{}');
INSERT INTO "events" VALUES(3,3,'e2','cy','lp-5',1700000000002,'purchase',1.0,'{}');
INSERT INTO "events" VALUES(4,3,'e3','dee','lp-4',1700000000003,'purchase',1.0,'{}');
INSERT INTO "events" VALUES(5,3,'e4','eve','lp-3',1700000000004,'purchase',1.0,'{}');
INSERT INTO "events" VALUES(6,3,'e5','fay','lp-2',1700000000005,'purchase',1.0,'{}');
INSERT INTO "events" VALUES(7,3,'e6','ada','lp-1',1700000000006,'purchase',1.0,'{}');
INSERT INTO "events" VALUES(8,3,'e7','ben','lp-6',1700000000007,'purchase',1.0,'{}');
INSERT INTO "events" VALUES(9,3,'e8','cy','lp-6',1700000000008,'purchase',1.0,'{}');
INSERT INTO "events" VALUES(10,3,'e9','dee','lp-5',1700000000009,'purchase',1.0,'{}');
INSERT INTO "events" VALUES(11,3,'e10','eve','lp-4',1700000000010,'purchase',1.0,'{}');
INSERT INTO "events" VALUES(12,3,'e11','fay','lp-3',1700000000011,'purchase',1.0,'{}');
INSERT INTO "events" VALUES(13,3,'e12','ada','lp-2',1700000000012,'purchase',1.0,'{}');
INSERT INTO "events" VALUES(14,3,'e13','ben','lp-1',1700000000013,'purchase',1.0,'{}');
INSERT INTO "events" VALUES(15,3,'e14','cy','lp-6',1700000000014,'purchase',1.0,'{}');
INSERT INTO "events" VALUES(16,3,'e15','dee','lp-5',1700000000015,'purchase',1.0,'{}');
INSERT INTO "events" VALUES(17,3,'e16','eve','lp-5',1700000000016,'purchase',1.0,'{}');
INSERT INTO "events" VALUES(18,3,'e17','fay','lp-4',1700000000017,'purchase',1.0,'{}');
INSERT INTO "events" VALUES(19,3,'e18','ada','lp-3',1700000000018,'purchase',1.0,'{}');
INSERT INTO "events" VALUES(20,3,'e19','ben','lp-2',1700000000019,'purchase',1.0,'{}');
INSERT INTO "events" VALUES(21,3,'e20','cy','lp-1',1700000000020,'purchase',1.0,'{}');
INSERT INTO "events" VALUES(22,3,'e21','dee','lp-6',1700000000021,'purchase',1.0,'{}');
INSERT INTO "events" VALUES(23,3,'e22','eve','lp-5',1700000000022,'purchase',1.0,'{}');
INSERT INTO "events" VALUES(24,3,'e23','fay','lp-4',1700000000023,'purchase',1.0,'{}');
CREATE TABLE idempotency_keys (
    idempotency_key text primary key, fingerprint text not null, reply text not null, created_ts bigint not null);
INSERT INTO "idempotency_keys" VALUES('d5b523aa-e216-4117-9d44-10419dd1fc98','pFP6Qk+4T/TajiA2f8J7V9X1h77IKhwxkTy3QP6l+H0=','{"userDatasetId":"user-dataset-35c78a62e5c66287401e","name":"users","numShards":1,"attributeSchema":null}',1794787356531);
INSERT INTO "idempotency_keys" VALUES('7c210dd1-c9dc-446f-8783-eaafaf7cace4','f/IXMR5DMychXAYCXGIkGTL0FhqFpmYinBBhw/humr4=','{"itemDatasetId":"item-dataset-a883c07b4f70d9a02c56","name":"items","numShards":1,"attributeSchema":null}',1794787356599);
INSERT INTO "idempotency_keys" VALUES('9dcfbc76-b6fe-446c-94d7-381dc5364671','c9jhnorHYGlspS666YO5FQMdnb6jmiiuhFD16EaoOqg=','{"eventDatasetId":"event-dataset-4ac921772136863e371f","name":"events","numShards":1,"attributeSchema":null}',1794787356850);
INSERT INTO "idempotency_keys" VALUES('794fcabc-48fd-4056-8c0e-7174aab34813','QgSxEtfqnjqQdc/pXY38YYz2u43oHgNsS88EVUfahGA=','{"projectId":"project-50ba8008db5a2a609a44","name":"shop","projectType":"RECOMMEND_ITEMS_TO_USER","userDatasetId":"user-dataset-35c78a62e5c66287401e","itemDatasetId":"item-dataset-a883c07b4f70d9a02c56","eventDatasetId":"event-dataset-4ac921772136863e371f","targetEventType":"purchase","servingUri":"http://127.0.0.1:39417/serving/project-50ba8008db5a2a609a44"}',1794787359164);
INSERT INTO "idempotency_keys" VALUES('9b103383-6417-465c-ad77-ec50aec1000a','dxYXn2IXsHNAelOAmMe/0k/5AzFGG8DlnXNuFc3ndQI=','{"algorithmId":"algorithm-c687d26d056d2e72bfc3","projectId":"project-50ba8008db5a2a609a44","name":"g1","algorithmType":"G1","algorithmParameters":{"alpha":0.1,"dimensions":4,"epochs":1,"regularization":0.1}}',1794787359327);
INSERT INTO "idempotency_keys" VALUES('7ab51158-f864-4da8-9ea3-51636b4b9a65','BbYLNydi4p6UjH64XxPQr2EagpY4VFOp+2fFheHydG4=','{"jobId":"job-816288359197f8bbd7cb"}',1794787359379);
INSERT INTO "idempotency_keys" VALUES('798bd15c-f42f-477a-a92a-3be87534d80b','Is9Xihe0G9Tiu7aac+tx7n5szZZQOfhzd7JwQqmjzM4=','{"jobId":"job-59172e6b300623cfc6cc"}',1794787362514);
INSERT INTO "idempotency_keys" VALUES('6fe23f15-74cf-4879-a55a-92af14cf90f8','zq4hQjXT6GNKeO19m9sSanJ4FA6v/VDRkMPAqHz7i9c=','{"jobId":"job-856a41d0cb811aad2afe"}',1794787362541);
INSERT INTO "idempotency_keys" VALUES('e8b84122-de45-491a-b6f4-b563ff723697','8Iin4JKXXzXYuTLQNDGX9XjmJ/8CgGGyscDTAX/bMfw=','{"jobId":"job-2d18dec9bcc8ce827ef0"}',1794787362597);
CREATE TABLE jobs (
    number integer primary key, id text not null unique, project_id text not null, job_type text not null,
    name text not null, data text not null, result text, status text not null, retry_count integer not null,
    created_ts bigint not null, finished_ts bigint);
INSERT INTO "jobs" VALUES(1,'job-816288359197f8bbd7cb','project-50ba8008db5a2a609a44','TRAINING','weekly','{"algorithmType":"G1","algorithmParameters":{"alpha":0.1,"dimensions":4,"epochs":1,"regularization":0.1},"chosenParameters":{"dimensions":4,"alpha":0.1,"regularization":0.1,"epochs":1,"weighting":"linear","damping":0,"regularization_exponent":1},"quality":{"recallAt20":1,"ndcgAt20":0.6317361476703868,"popularityNdcgAt20":0.5484028143370534}}','{"modelId":"model-cd2b9465e1c77521fe35"}','SUCCEED',0,1794787359379,1794787362047);
INSERT INTO "jobs" VALUES(2,'job-59172e6b300623cfc6cc','project-50ba8008db5a2a609a44','QUERYING','jazz','{"modelId":"model-cd2b9465e1c77521fe35","queryType":"user_distribution","queries":[{"attribute":"genre","value":"jazz","bins":2}]}','{"message":"Add &format=svg to the address for the chart, and &query=1 and so on for that of another query."}','SUCCEED',0,1794787362509,1794787363472);
INSERT INTO "jobs" VALUES(3,'job-856a41d0cb811aad2afe','project-50ba8008db5a2a609a44','CLUSTERING','groups','{"modelId":"model-cd2b9465e1c77521fe35","clusterType":"user","parameters":{"minUserNum":1}}','{"message":null}','SUCCEED',0,1794787362541,1794787363495);
INSERT INTO "jobs" VALUES(4,'job-2d18dec9bcc8ce827ef0','project-50ba8008db5a2a609a44','DEPLOYMENT','live','{"generatorModelId":"model-cd2b9465e1c77521fe35","rankerModelId":null,"qps":3}','{}','SUCCEED',0,1794787362596,1794787363502);
CREATE TABLE migrations (step integer primary key);
INSERT INTO "migrations" VALUES(0);
INSERT INTO "migrations" VALUES(1);
INSERT INTO "migrations" VALUES(2);
INSERT INTO "migrations" VALUES(3);
INSERT INTO "migrations" VALUES(4);
INSERT INTO "migrations" VALUES(5);
INSERT INTO "migrations" VALUES(6);
INSERT INTO "migrations" VALUES(7);
INSERT INTO "migrations" VALUES(8);
INSERT INTO "migrations" VALUES(9);
CREATE TABLE models (
    id text primary key, number integer not null unique, project_id text not null, name text not null,
    algorithm_type text not null, algorithm_parameters text not null,
    created_ts bigint not null);
INSERT INTO "models" VALUES('model-cd2b9465e1c77521fe35',1,'project-50ba8008db5a2a609a44','weekly','G1','{"alpha":0.1,"dimensions":4,"epochs":1,"regularization":0.1}',1794787362047);
CREATE TABLE projects (
    id text primary key, name text not null, project_type text not null, user_dataset_id text not null,
    item_dataset_id text not null, event_dataset_id text not null, target_event_type text not null,
    created_ts bigint not null);
INSERT INTO "projects" VALUES('project-50ba8008db5a2a609a44','shop','RECOMMEND_ITEMS_TO_USER','user-dataset-35c78a62e5c66287401e','item-dataset-a883c07b4f70d9a02c56','event-dataset-4ac921772136863e371f','purchase',1794787359164);
CREATE TABLE records (
    dataset integer not null, record_id text not null, attributes text not null, primary key (dataset, record_id));
INSERT INTO "records" VALUES(2,'lp-1','{"genre":"folk"}');
INSERT INTO "records" VALUES(2,'lp-2','{"genre":"jazz"}');
INSERT INTO "records" VALUES(2,'lp-3','{"genre":"folk"}');
INSERT INTO "records" VALUES(2,'lp-4','{"genre":"jazz"}');
INSERT INTO "records" VALUES(2,'lp-5','{"genre":"folk"}');
INSERT INTO "records" VALUES(2,'lp-6','{"genre":"jazz"}');
INSERT INTO "records" VALUES(1,'ada','{"country":"de"}');
INSERT INTO "records" VALUES(1,'ben','{"country":"de"}');
INSERT INTO "records" VALUES(1,'cy','{"country":"de"}');
INSERT INTO "records" VALUES(1,'dee','{"country":"de"}');
INSERT INTO "records" VALUES(1,'eve','{"country":"de"}');
INSERT INTO "records" VALUES(1,'fay','{"country":"de"}');
CREATE TABLE shards (
    dataset integer not null, shard bigint not null, records bigint not null, primary key (dataset, shard));
INSERT INTO "shards" VALUES(2,0,6);
INSERT INTO "shards" VALUES(1,0,6);
INSERT INTO "shards" VALUES(3,0,24);
COMMIT;