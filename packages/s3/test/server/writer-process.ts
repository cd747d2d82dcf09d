/** A writer of its own process: `writer-process.ts BUCKET PREFIX SESSION NAME WAVES WIDTH`. Appends waves of entries and says their ids. */
import { createSessions } from "@sessions/core"
import { openIn } from "./place.ts"

const [bucket = "", prefix = "", id = "", name = "", waves = "0", width = "0"] = process.argv.slice(2)
const sessions = createSessions({ storage: openIn(bucket, prefix) })
const session = await sessions.open(id)
const ids: string[] = []
for (let wave = 0; wave < Number(waves); wave++) {
  const appends = Array.from({ length: Number(width) }, (_, n) =>
    session.append({ type: "message", message: { role: "user", content: `${name} ${wave} ${n}` } }),
  )
  for (const result of await Promise.all(appends)) ids.push(...result.ids)
}
await sessions.close()
process.stdout.write(JSON.stringify(ids))
