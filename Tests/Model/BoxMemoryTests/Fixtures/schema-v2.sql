-- A store of schema v2 (identity, settings, revision), as `sqlite3 state.db .dump` writes it. Never changed.
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
    thumbnail BLOB
, onvif_endpoint TEXT, serial TEXT, mac TEXT, usb TEXT, settings TEXT NOT NULL DEFAULT '{}', revision INTEGER NOT NULL DEFAULT 1) STRICT;
INSERT INTO "camera" VALUES('front','5f0c2a54-7a4b-4f0e-9d0c-0b6c1d3a1f01','Vordertür 🚪 "Süd"','rtsp://192.0.2.50:554/Streaming/Channels/101','admin','192.0.2.50',554,'HIKVISION','DS-2CD2042',1,0,1700000000,1763700000,X'FFD8FFE04A4649462066697874757265','urn:uuid:9b1d0c5e-0000-1000-8000-4419b6a1c2d3','DS-2CD2042WD20160101','44:19:b6:a1:c2:d3',NULL,'{"attributes":["https://example.net/attr/site/value/porch"],"audio":true,"bitrate":2000000,"gop":1.5,"size":"1920x1080"}',7);
INSERT INTO "camera" VALUES('garage','5f0c2a54-7a4b-4f0e-9d0c-0b6c1d3a1f02','Garage','v4l2:usb-1.2',NULL,NULL,NULL,NULL,NULL,0,1,1700000100,NULL,NULL,NULL,NULL,NULL,'046d:082d:1A2B3C','{"rate":15}',2);
INSERT INTO "camera" VALUES('back-door','5f0c2a54-7a4b-4f0e-9d0c-0b6c1d3a1f03','It''s the back door','onvif://[2001:db8::7]:8080/onvif/device_service','viewer','2001:db8::7',8080,'Dahua','IPC-K42',1,2,1700000200,1763700200,NULL,NULL,NULL,NULL,NULL,'{}',1);
CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
INSERT INTO "grdb_migrations" VALUES('v1');
INSERT INTO "grdb_migrations" VALUES('v2');
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
    is_default INTEGER NOT NULL,
    PRIMARY KEY (camera, id)
) STRICT;
INSERT INTO "profile" VALUES('front',0,'Profile_1','mainStream','rtsp://192.0.2.50:554/Streaming/Channels/101',1920,1080,25.0,'h264',1);
INSERT INTO "profile" VALUES('front',1,'Profile_2','subStream','rtsp://192.0.2.50:554/Streaming/Channels/102',640,360,12.5,'h264',0);
INSERT INTO "profile" VALUES('back-door',0,'000','MediaProfile000','rtsp://[2001:db8::7]:554/cam',2560,1440,20.0,'h265',0);
COMMIT;
