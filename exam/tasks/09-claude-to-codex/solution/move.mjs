import { createReadStream, createWriteStream } from "node:fs"
import { mkdir } from "node:fs/promises"
import { dirname, join } from "node:path"
import { Readable } from "node:stream"
import { pipeline } from "node:stream/promises"
import { createSessions } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"
import { importFile } from "@sessions/formats"
import { claudeCode } from "@sessions/formats/claude-code"
import { codex, codexPathOf } from "@sessions/formats/codex"
import { sessionPage } from "@sessions/inspector"

const [file, root, home] = process.argv.slice(2)
const sessions = createSessions({ storage: createFileStorage({ root }) })
const { id } = await importFile(sessions, () => createReadStream(file), { from: [claudeCode] })
const session = await sessions.open(id)

const codexId = crypto.randomUUID()
const path = join(home, codexPathOf(codexId, session.header.timestamp))
await mkdir(dirname(path), { recursive: true })
await pipeline(Readable.from(codex.write(session, { id: codexId })), createWriteStream(path))
console.log(path)

const page = sessionPage(sessions, id, { redact: (text) => text.replaceAll(/sk-[A-Za-z0-9]+/g, "[key]") })
await pipeline(Readable.from(page), createWriteStream(join(home, "share.html")))
await sessions.close()
