-- A store of schema v6 (what network cameras tell of themselves), as `sqlite3 state.db .dump` writes it. Never changed.
BEGIN TRANSACTION;
CREATE TABLE camera (
    id TEXT NOT NULL PRIMARY KEY,
    uuid TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    source TEXT NOT NULL,
    user TEXT,
    address TEXT,
    port INTEGER,
    manufacturer TEXT,
    model TEXT,
    is_active INTEGER NOT NULL,
    grid_position INTEGER NOT NULL,
    added INTEGER NOT NULL,
    last_connected INTEGER,
    onvif_endpoint TEXT, serial TEXT, mac TEXT, usb TEXT, settings TEXT NOT NULL DEFAULT '{}', revision INTEGER NOT NULL DEFAULT 1, firmware TEXT) STRICT;
INSERT INTO "camera" VALUES('front','5f0c2a54-7a4b-4f0e-9d0c-0b6c1d3a1f01','Vordertür 🚪 "Süd"','rtsp://192.0.2.50:554/Streaming/Channels/101','admin','192.0.2.50',554,'HIKVISION','DS-2CD2042',1,0,1700000000,1763700000,'urn:uuid:9b1d0c5e-0000-1000-8000-4419b6a1c2d3','DS-2CD2042WD20160101','44:19:b6:a1:c2:d3',NULL,'{"attributes":["https://example.net/attr/site/value/porch"],"audio":true,"bitrate":2000000,"gop":1.5,"size":"1920x1080"}',7,'V5.4.5 build 170124');
INSERT INTO "camera" VALUES('garage','5f0c2a54-7a4b-4f0e-9d0c-0b6c1d3a1f02','Garage','v4l2:usb-1.2',NULL,NULL,NULL,NULL,NULL,0,1,1700000100,NULL,NULL,NULL,NULL,'046d:082d:1A2B3C','{"rate":15}',2,NULL);
INSERT INTO "camera" VALUES('back-door','5f0c2a54-7a4b-4f0e-9d0c-0b6c1d3a1f03','It''s the back door','onvif://[2001:db8::7]:8080/onvif/device_service','viewer','2001:db8::7',8080,'Dahua','IPC-K42',1,2,1700000200,1763700200,NULL,NULL,NULL,NULL,'{}',1,NULL);
CREATE TABLE event (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    realtime_us INTEGER NOT NULL,
    topic TEXT NOT NULL,
    code TEXT,
    object TEXT,
    text TEXT NOT NULL,
    details TEXT
) STRICT;
INSERT INTO "event" VALUES(2,1763700000000001,'camera.state','WB-2107','camera/front','401 Unauthorized','{"attempt":3}');
INSERT INTO "event" VALUES(3,1763700000000002,'box.start',NULL,NULL,'WatchBox started',NULL);
CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
INSERT INTO "grdb_migrations" VALUES('v1');
INSERT INTO "grdb_migrations" VALUES('v2');
INSERT INTO "grdb_migrations" VALUES('v3');
INSERT INTO "grdb_migrations" VALUES('v4');
INSERT INTO "grdb_migrations" VALUES('v5');
INSERT INTO "grdb_migrations" VALUES('v6');
CREATE TABLE object (
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    json TEXT NOT NULL,
    revision INTEGER NOT NULL,
    PRIMARY KEY (kind, name)
) STRICT;
INSERT INTO "object" VALUES('relay','main','{"url":"rtmps://live.example.net/live"}',3);
INSERT INTO "object" VALUES('kas','default','{"url":"https://kas.example.net/kas"}',1);
CREATE TABLE profile (
    camera TEXT NOT NULL REFERENCES camera (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    id TEXT NOT NULL,
    name TEXT NOT NULL,
    source TEXT NOT NULL,
    width INTEGER NOT NULL,
    height INTEGER NOT NULL,
    rate REAL NOT NULL,
    codec TEXT NOT NULL,
    is_default INTEGER NOT NULL, bitrate INTEGER, gop INTEGER, service TEXT, snapshot TEXT,
    PRIMARY KEY (camera, id)
) STRICT;
INSERT INTO "profile" VALUES('front',0,'Profile_1','mainStream','rtsp://192.0.2.50:554/Streaming/Channels/101',1920,1080,25.0,'h264',1,4096000,50,'media2','http://192.0.2.50/onvif-http/snapshot?Profile_1');
INSERT INTO "profile" VALUES('front',1,'Profile_2','subStream','rtsp://192.0.2.50:554/Streaming/Channels/102',640,360,12.5,'h264',0,NULL,NULL,NULL,NULL);
INSERT INTO "profile" VALUES('back-door',0,'000','MediaProfile000','rtsp://[2001:db8::7]:554/cam',2560,1440,20.0,'h265',0,NULL,NULL,NULL,NULL);
CREATE TABLE thumbnail (
    camera TEXT NOT NULL PRIMARY KEY REFERENCES camera (id) ON DELETE CASCADE,
    jpeg BLOB NOT NULL
, taken INTEGER) STRICT;
INSERT INTO "thumbnail" VALUES('front',X'FFD8FFE04A4649462066697874757265',1763700300);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('event',3);
COMMIT;
