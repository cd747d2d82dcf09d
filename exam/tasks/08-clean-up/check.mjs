import { readdirSync, statSync, utimesSync } from "node:fs"
import { join } from "node:path"
import { createSessions } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"
import { assert, checkUndamaged, everySession, makeFolder, openFiles, runProgram } from "../../lib/check.mjs"

const DAY = 24 * 60 * 60 * 1000
const folder = makeFolder()
await write("old", 40, ["a", "shared"])
await write("old-and-retitled", 31, ["b"])
await write("young", 29, ["c", "shared"])
await write("new", 0, ["d"])
let sessions = openFiles(folder)
await (await sessions.open("old-and-retitled")).title("renamed today")
await sessions.close()
const old = new Date(Date.now() - 3 * DAY)
for (const path of files()) utimesSync(path, old, old)

const before = files().sort()
assert.equal(await runProgram("cleanup.mjs", [folder, "30", "--dry-run"]), "2", "the number of a dry run")
assert.deepEqual(files().sort(), before, "a dry run changes nothing")
assert.deepEqual(await blobs(), ["a", "b", "c", "d", "shared"])
assert.equal(await runProgram("cleanup.mjs", [folder, "30"]), "2", "the number of deleted chats")

sessions = openFiles(folder)
assert.deepEqual((await everySession(sessions)).map(({ id }) => id).sort(), ["new", "young"], "the chats that stay")
await checkUndamaged(sessions)
await sessions.close()
assert.deepEqual(await blobs(), ["c", "d", "shared"], "the images that stay")
assert.equal(await runProgram("cleanup.mjs", [folder, "0.000001"]), "2", "a fraction of a day")

async function write(id, days, names) {
  const now = () => Date.now() - days * DAY
  const repository = createSessions({ storage: createFileStorage({ root: folder }), now })
  const session = await repository.create({ id })
  const images = names.map((name) => ({ type: "image", mimeType: "image/png", data: pixels(name) }))
  const content = [{ type: "text", text: `an image for ${id}` }, ...images]
  await session.append({ type: "message", message: { role: "user", content } })
  await repository.close()
}

/** Large enough to be kept beside the log. */
function pixels(name) {
  return Buffer.from(name.repeat(300_000 / name.length)).toString("base64")
}

async function blobs() {
  const storage = createFileStorage({ root: folder })
  const found = []
  for await (const { hash } of storage.blobs.list()) {
    const text = Buffer.from(await storage.blobs.get(hash)).toString()
    found.push(text.startsWith("shared") ? "shared" : text[0])
  }
  await storage[Symbol.asyncDispose]?.()
  return found.sort()
}

function files() {
  return readdirSync(folder, { recursive: true })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())
}
