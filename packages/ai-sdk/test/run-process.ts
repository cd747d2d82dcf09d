/** `run-process.ts STORAGE ROOT STEPS`: saves a chat after each step, from the first again, and prints the steps that are stored. */
import { createSessions } from "@sessions/core"
import { createChatStore } from "@sessions/ai-sdk"
import { afterSteps } from "./answers.ts"
import { openStorage } from "./storage-of-process.ts"

const [kind = "", root = "", steps = "0"] = process.argv.slice(2)
const store = createChatStore(createSessions({ storage: openStorage(kind, root) }))
const { onStepEnd } = store.persist({ chatId: "c", messages: afterSteps(0) })
for (let step = (await stored()) + 1; step <= Number(steps); step++) {
  const messages = afterSteps(step)
  await onStepEnd({ messages, responseMessage: messages.at(-1) })
  console.log(`stored ${step}`)
}

async function stored(): Promise<number> {
  try {
    return ((await store.loadChat("c"))[1]?.parts.length ?? 0) / 2
  } catch {
    return 0
  }
}
