-- A memory of schema v7 (what is learned of cameras, beside what was the configuration), as `sqlite3 state.db .dump` writes it.
-- Never changed.
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
INSERT INTO "grdb_migrations" VALUES('v7');
CREATE TABLE learned (
    camera TEXT NOT NULL PRIMARY KEY,
    source TEXT NOT NULL,
    address TEXT,
    port INTEGER,
    manufacturer TEXT,
    model TEXT,
    firmware TEXT,
    onvif_endpoint TEXT,
    serial TEXT,
    mac TEXT,
    profiles TEXT,
    last_connected INTEGER
) STRICT;
INSERT INTO "learned" VALUES('5f0c2a54-7a4b-4f0e-9d0c-0b6c1d3a1f01','rtsp://192.0.2.50:554/Streaming/Channels/101','192.0.2.50',554,'HIKVISION','DS-2CD2042','V5.4.5 build 170124','urn:uuid:9b1d0c5e-0000-1000-8000-4419b6a1c2d3','DS-2CD2042WD20160101','44:19:b6:a1:c2:d3','[{"id":"Profile_1","name":"mainStream","source":"rtsp://192.0.2.50:554/Streaming/Channels/101","width":1920,"height":1080,"rate":25.0,"codec":"h264","bitrate":4096000,"gop":50,"service":"media2","snapshot":"http://192.0.2.50/onvif-http/snapshot?Profile_1"},{"id":"Profile_2","name":"subStream","source":"rtsp://192.0.2.50:554/Streaming/Channels/102","width":640,"height":360,"rate":12.5,"codec":"h264","bitrate":null,"gop":null,"service":null,"snapshot":null}]',1763700000);
INSERT INTO "learned" VALUES('5f0c2a54-7a4b-4f0e-9d0c-0b6c1d3a1f02','v4l2:usb-1.2',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'[]',NULL);
INSERT INTO "learned" VALUES('5f0c2a54-7a4b-4f0e-9d0c-0b6c1d3a1f03','onvif://[2001:db8::7]:8080/onvif/device_service','2001:db8::7',8080,'Dahua','IPC-K42',NULL,NULL,NULL,NULL,'[{"id":"000","name":"MediaProfile000","source":"rtsp://[2001:db8::7]:554/cam","width":2560,"height":1440,"rate":20.0,"codec":"h265","bitrate":null,"gop":null,"service":null,"snapshot":null}]',1763700200);
CREATE TABLE object (
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    json TEXT NOT NULL,
    revision INTEGER NOT NULL,
    PRIMARY KEY (kind, name)
) STRICT;
INSERT INTO "object" VALUES('relay','main','{"url":"rtmps://live.example.net/live"}',3);
INSERT INTO "object" VALUES('kas','default','{"url":"https://kas.example.net/kas"}',1);
CREATE TABLE "thumbnail" (
    camera TEXT NOT NULL PRIMARY KEY,
    source TEXT NOT NULL,
    jpeg BLOB NOT NULL,
    taken INTEGER
) STRICT;
INSERT INTO "thumbnail" VALUES('5f0c2a54-7a4b-4f0e-9d0c-0b6c1d3a1f01','rtsp://192.0.2.50:554/Streaming/Channels/101',X'FFD8FFE04A4649462066697874757265',1763700300);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('event',3);
COMMIT;
