import { existsSync } from "node:fs"
import { join } from "node:path"
import { createSessions } from "@sessions/core"
import { exportSession } from "@sessions/core/transfer"
import { createFileStorage } from "@sessions/fs"
import { createSqliteStorage } from "@sessions/sqlite"
import {
  assert,
  checkUndamaged,
  everySession,
  makeFolder,
  openFiles,
  runProgram,
  start,
  until,
} from "../../lib/check.mjs"

const [folder, place] = [makeFolder(), makeFolder()]
const file = join(place, "chats.db")
const CHATS = 120
let time = Date.parse("2026-05-01T12:00:00Z")
const from = createSessions({ storage: createFileStorage({ root: folder }), now: () => time })
const say = (role, content) => ({ type: "message", message: { role, content } })
for (let i = 0; i < CHATS; i++) {
  time += 24 * 60 * 60 * 1000
  const session = await from.create({ id: `chat-${i}`, title: `Chat ${i}`, metadata: { number: i } })
  const { ids } = await session.append([
    say("user", `Wo ist das Café Nummer ${i}?`),
    say("assistant", `The answer is ${i}.`),
  ])
  if (i === 7) {
    await session.append(say("user", [image("large"), { type: "text", text: "one with an image" }]))
    await session.branch(ids[0])
    await session.append(say("assistant", "another answer"))
  }
  if (i === 9) await session.tombstone(ids[0])
  await session.close()
}
await from.close()

const { child, done } = start("move.mjs", [folder, file])
await until(() => existsSync(file) || child.exitCode !== null, "the SQLite file")
child.kill("SIGKILL")
await done
assert.equal(await runProgram("move.mjs", [folder, file]), String(CHATS), "the number of chats after a killed move")
assert.equal(await runProgram("move.mjs", [folder, file]), String(CHATS), "the number of chats after one more move")

const [files, sessions] = [openFiles(folder), createSessions({ storage: createSqliteStorage({ path: file }) })]
assert.equal((await everySession(files)).length, CHATS, "the chats that stay in the folder")
assert.equal((await everySession(sessions)).length, CHATS)
for (const id of ["chat-0", "chat-7", "chat-9", "chat-119"]) {
  const texts = await Promise.all([files, sessions].map((repository) => contentOf(repository, id)))
  assert.equal(texts[1], texts[0], `the log of ${id}`)
}
await checkUndamaged(sessions)
await files.close()
await sessions.close()

const hits = await lines("cafe", "nummer")
assert.equal(hits.length, CHATS - 1, "the hits of words that almost all chats have")
assert.equal(hits[0], "chat-119\tuser\t2026-08-29", "the newest hit")
assert.ok(!hits.some((line) => line.startsWith("chat-9\t")), "a deleted message is found")
assert.deepEqual(await lines("ANSWER", "42"), ["chat-42\tassistant\t2026-06-13"])
assert.deepEqual(await lines("anoth"), ["chat-7\tassistant\t2026-05-09"], "the beginning of a word")
assert.deepEqual(await lines("nothing", "of", "this"), [])

async function lines(...words) {
  const out = await runProgram("find.mjs", [file, ...words])
  return out === "" ? [] : out.split("\n")
}

async function contentOf(repository, id) {
  let text = ""
  for await (const piece of exportSession(repository, id, { selfContained: true })) text += piece
  return text
}

function image(name) {
  return { type: "image", mimeType: "image/png", data: Buffer.from(name.repeat(60_000)).toString("base64") }
}
