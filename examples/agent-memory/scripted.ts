/** Stand-ins for the models, so that the example needs no network: one that writes a file, one that finds a fact, one that tidies. */
import type { Summarize } from "@sessions/core/compaction"
import type { RunPhase } from "@sessions/recall"
import type { Model } from "./agent.ts"

/** Writes what stands in quotes into greeting.txt, in capitals if its system prompt says so; then it answers. */
export const scriptedModel: Model = async (system, messages) => {
  const last = messages.at(-1)
  if (last?.role === "toolResult")
    return { role: "assistant", content: [{ type: "text", text: "The greeting is written." }] }
  const asked = last?.content.map((block) => (block.type === "text" ? block["text"] : "")).join("") ?? ""
  const quoted = /"(.*)"/.exec(asked)?.[1] ?? ""
  const text = `${system.includes("in capitals") ? quoted.toUpperCase() : quoted}\n`
  const id = `call-${messages.length}`
  return {
    role: "assistant",
    content: [{ type: "toolCall", id, name: "write", arguments: { path: "greeting.txt", text } }],
  }
}

export const scriptedAsk: Summarize = async () =>
  JSON.stringify([{ category: "UserPreference", fact: "Wants greetings in capitals", confidence: 0.9 }])

/** Moves the facts into a file of their own, and links it. */
export const scriptedTidy: RunPhase = async ({ phase, tools }) => {
  if (phase !== "consolidate") return
  const facts = ((await tools.readMemory("MEMORY.md")) ?? "").split("\n").filter((line) => line.startsWith("- ["))
  await tools.writeMemory("style.md", `# Style\n\n${facts.join("\n")}\n`)
  await tools.writeMemory("MEMORY.md", "- [Style](style.md) - greetings in capitals\n")
}
