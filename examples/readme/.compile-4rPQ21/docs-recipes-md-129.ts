import { createSessions } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"

const storage = createMemoryStorage()
const old = await createSessions({ storage }).create()
await old.append({ type: "message", message: { role: "user", content: "the key is hunter2" } })

const redacting = createSessions({
  storage,
  hooks: { append: (entry) => JSON.parse(JSON.stringify(entry).replaceAll("hunter2", "[removed]")) },
})
// An import runs the hook for each entry. With `selfContained` it sees long texts and images too, which are stored as blobs.
const { id } = await redacting.import(() => redacting.export(old.id, { selfContained: true }))
const { purged } = await redacting.delete(old.id, { blobs: "now" })
console.log(purged, (await redacting.info(id)).firstPrompt) // true the key is [removed]
export {}
