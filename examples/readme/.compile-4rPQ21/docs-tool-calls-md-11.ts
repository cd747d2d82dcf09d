import { createSessions } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"
import { createToolCalls } from "@sessions/tool-calls"

const sessions = createSessions({ storage: createFileStorage({ root: "./.sessions" }) })
const session = await sessions.openOrCreate("shop")
const charged = new Map<string, string>() // in place of a payment service that takes a key

const executors = {
  charge: ({ key, arguments: { amount } }: { key: string; arguments: Readonly<Record<string, unknown>> }) => {
    charged.set(key, `charged ${amount}`)
    return `charged ${amount}`
  },
}
const calls = createToolCalls(session, {
  tools: { charge: "never", read_file: "safe" }, // never: a call must not be repeated
  onUnknown: ({ key = "" }) => {
    const output = charged.get(key) // ask the service by the key
    return output === undefined ? undefined : { output }
  },
})

await session.turn(async (turn) => {
  // What an earlier process has left is settled first.
  await calls.resume(executors)
  await turn.append([{ type: "message", message: { role: "user", content: "Charge 5." } }, calls.record])
  // The answer of the model is appended before its calls run.
  const call = { type: "toolCall", id: "c1", name: "charge", arguments: { amount: 5 } } as const
  await turn.append({ type: "message", message: { role: "assistant", content: [call] } })
  await Promise.all([call].map((one) => calls.run(one, executors[one.name])))
})
console.log((await session.callStates())?.calls[0]?.state) // done
await sessions.close()
export {}
