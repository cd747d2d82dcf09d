import { createSessions, type Sessions } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"

const open = new Map<string, Sessions>()

/** `tenant` is what your authorization says, here letters and digits only: it becomes the name of a folder. */
function sessionsOf(tenant: string): Sessions {
  if (!/^[a-z0-9]+$/.test(tenant)) throw new Error(`not a tenant: ${tenant}`)
  const known = open.get(tenant) ?? createSessions({ storage: createFileStorage({ root: `./data/${tenant}` }) })
  open.set(tenant, known)
  return known
}

await sessionsOf("acme").openOrCreate("chat-1")
console.log((await sessionsOf("other").list()).sessions.length) // 0
for (const sessions of open.values()) await sessions.close()
export {}
