import { createMemoryHistory } from "@sessions/history"

const history = createMemoryHistory({
  redact: (prompt) => prompt.replace(/\bsk-\w+/g, "[key]"),
})
history.add("deploy with sk-a1b2c3")
history.add(" not stored, because it begins with a space")
for (const { prompt } of await history.recent()) console.log(prompt)
await history.close()
export {}
