import { createSessions } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"

const [here, there] = process.argv.slice(2)
const laptop = createSessions({ storage: createFileStorage({ root: here }) })
const storage = createFileStorage({ root: there })
const office = createSessions({ storage })

const [mine, theirs] = [await idsOf(laptop), await idsOf(office)]
let [sent, received] = [0, 0]
for (const id of new Set([...mine, ...theirs])) {
  try {
    if (!mine.has(id)) received += await copy(office, id, laptop, createFileStorage({ root: here }))
    else if (!theirs.has(id)) sent += await copy(laptop, id, office, storage)
    else {
      const merged = await laptop.merge(id, storage)
      sent += merged.sent
      received += merged.received
    }
  } catch (error) {
    console.error(`${id}: ${error.message}`)
    process.exitCode = 1
  }
}
console.log(`sent ${sent}, received ${received}`)
await laptop.close()
await office.close()

async function copy(from, id, to, storage) {
  await from.copy(id, storage)
  const session = await to.open(id)
  let count = 0
  for await (const _ of session.entries()) count++
  await session.close()
  return count
}

async function idsOf(sessions) {
  const ids = new Set()
  let cursor
  do {
    const page = await sessions.list({ limit: 200, ...(cursor && { cursor }) })
    for (const { id } of page.sessions) ids.add(id)
    cursor = page.next
  } while (cursor)
  return ids
}
