import { homedir } from "node:os"
import { join } from "node:path"
import { createSessions } from "@sessions/core"
import { importFile } from "@sessions/formats"
import { opencode, opencodeDocument, opencodeSessions } from "@sessions/formats/opencode"
import { createFileStorage } from "@sessions/fs"
import { connectReadOnly } from "@sessions/sqlite/driver"

const sessions = createSessions({ storage: createFileStorage({ root: "./.sessions" }) })
const db = connectReadOnly(join(homedir(), ".local/share/opencode/opencode.db"))
for (const { id } of opencodeSessions(db)) await importFile(sessions, () => opencodeDocument(db, id), { from: opencode })
db.close()
export {}
