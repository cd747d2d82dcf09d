/** A tab that goes on with the turn. It asks the page before and after each write, and the page may close it in place of an answer. */
import { createSessions } from "@sessions/core"
import type { SessionStorage } from "@sessions/core/storage"
import { createIndexedDbStorage } from "@sessions/idb"
import type { Execution } from "@sessions/tool-calls"
import type { Plan } from "./crash/plan.ts"
import { RUN } from "./crash/ways.ts"

export type Said =
  | { readonly step: "write" }
  | { readonly charge: { readonly callId: string; readonly key: string } }
  | { readonly find: string }
  | { readonly ended: true | string }

const waiting: ((answer: unknown) => void)[] = []

function ask(said: Said): Promise<unknown> {
  postMessage(said)
  return new Promise((resolve) => void waiting.push(resolve))
}

async function run(database: string): Promise<void> {
  const storage = createIndexedDbStorage({ database })
  const append: SessionStorage["append"] = async (...args) => {
    await ask({ step: "write" })
    const head = await storage.append(...args)
    await ask({ step: "write" })
    return head
  }
  const sessions = createSessions({ storage: { ...storage, append } })
  const tools = {
    charge: async ({ key, arguments: { id } }: Execution) => ask({ charge: { callId: String(id), key } }),
    look: () => "seen",
  }
  await RUN.lease({
    sessions,
    plan: { runs: false } as Plan,
    tools,
    // The turn that has started it has lost its lease: its tab is closed.
    onUnknown: async ({ key = "" }) => {
      const output = await ask({ find: key })
      return output === undefined ? "not done" : { output }
    },
  })
  await sessions.close()
}

addEventListener("message", ({ data }: MessageEvent<{ readonly database: string } | { readonly answer: unknown }>) => {
  if ("answer" in data) waiting.shift()?.(data.answer)
  else
    void run(data.database).then(
      () => postMessage({ ended: true } satisfies Said),
      (error: unknown) => postMessage({ ended: String(error) } satisfies Said),
    )
})
