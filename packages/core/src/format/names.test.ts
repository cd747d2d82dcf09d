import { expect, test } from "vitest"
import { type Extensions, nameProblem } from "./names.ts"
import { type NewEntry, normalizeNewEntry } from "./new-entry.ts"

const message = (role: string, ...blocks: string[]): object => ({
  type: "message",
  message: { role, content: blocks.map((type) => ({ type })) },
})

test.each(["label", "title_change", "acme:note", "x-1:a/b.c"])("an entry of the type %s is accepted", (type) =>
  expect(nameProblem({ type }, undefined)).toBeUndefined(),
)

test.each([
  "user",
  "system",
  "assistant",
  "toolResult",
  "bashExecution",
  "pythonExecution",
  "branchSummary",
  "compactionSummary",
  "custom",
  "acme:critic",
])("a message of the role %s is accepted", (role) => {
  expect(
    nameProblem(message(role, "text", "thinking", "image", "file", "toolCall", "acme:chart") as never, undefined),
  ).toBeUndefined()
})

test.each([
  [
    "mesage",
    'type "mesage" is unknown. Did you mean "message"? A name of your own needs a namespace, such as "acme:mesage"',
  ],
  ["tile_change", 'Did you mean "title_change"?'],
  ["user", 'Append { type: "message", message: { role: "user", … } }.'],
  ["tool", 'Append { type: "message", message: { role: "toolResult", … } }.'],
  ["note", 'needs a namespace, such as "acme:note", or a place in `extensions.entries` of createSessions.'],
  ["Acme:note", 'type "Acme:note" is unknown.'],
  ["acme:", 'type "acme:" is unknown.'],
  ["acme:a b", 'such as "acme:note"'],
  ["a:b:c", 'type "a:b:c" is unknown.'],
  ["constructor", 'type "constructor" is unknown.'],
  ["__proto__", 'type "__proto__" is unknown.'],
  ["", 'type "" is unknown.'],
])("an entry of the type %j is refused: %s", (type, problem) => {
  expect(() => normalizeNewEntry({ type } as NewEntry)).toThrow(invalid(problem))
})

test.each([
  ["usr", 'message.role "usr" is unknown. Did you mean "user"?'],
  ["tool", 'message.role "tool" is unknown. Use "toolResult".'],
  ["function", 'Use "toolResult".'],
  ["developer", 'Use "system".'],
  ["model", 'Use "assistant".'],
  ["ai", 'Use "assistant".'],
  ["human", 'Use "user".'],
  ["critic", 'such as "acme:critic", or a place in `extensions.roles` of createSessions.'],
])("a message of the role %j is refused: %s", (role, problem) => {
  expect(() => normalizeNewEntry(message(role, "acme:x") as NewEntry)).toThrow(invalid(problem))
})

test.each([
  ["tool_use", 'message.content[1].type "tool_use" is unknown. Use "toolCall".'],
  ["tool-call", 'Use "toolCall".'],
  ["function_call", 'Use "toolCall".'],
  ["functionCall", 'Use "toolCall".'],
  ["tool_result", 'Append a message with the role "toolResult" in its place.'],
  ["tool-result", 'Append a message with the role "toolResult" in its place.'],
  ["function_call_output", 'Append a message with the role "toolResult" in its place.'],
  ["functionResponse", 'Append a message with the role "toolResult" in its place.'],
  ["input_text", 'Use "text".'],
  ["output_text", 'Use "text".'],
  ["image_url", 'Use "image".'],
  ["input_image", 'Use "image".'],
  ["inlineData", 'Use "image".'],
  ["reasoning", 'Use "thinking".'],
  ["redacted_thinking", 'Use "anthropic:redacted_thinking".'],
  ["txt", 'Did you mean "text"?'],
  ["chart", 'such as "acme:chart", or a place in `extensions.blocks` of createSessions.'],
])("a block of the type %j is refused: %s", (type, problem) => {
  expect(() => normalizeNewEntry(message("user", "acme:x", type) as NewEntry)).toThrow(invalid(problem))
})

test.each([
  [{ type: "custom_message", customType: "any", display: true, content: [{ type: "txt" }] }, "content[0].type"],
  [{ type: "context_edit", targetId: "t", replacement: { content: [{ type: "txt" }] } }, "replacement.content[0].type"],
])("blocks of other entries with content are checked too: %j", (entry, path) => {
  expect(() => normalizeNewEntry(entry as never)).toThrow(invalid(`${path} "txt" is unknown.`))
})

test("names in `extensions` are accepted, each in its place alone", () => {
  const extensions: Extensions = { entries: ["note"], roles: ["critic"], blocks: ["chart"] }
  expect(nameProblem({ type: "note" }, extensions)).toBeUndefined()
  expect(nameProblem(message("critic", "chart") as never, extensions)).toBeUndefined()
  expect(nameProblem({ type: "critic" }, extensions)).toContain('"critic" is unknown')
  expect(nameProblem(message("chart") as never, extensions)).toContain('"chart" is unknown')
  expect(nameProblem(message("user", "note") as never, extensions)).toContain('"note" is unknown')
})

test("further fields and all values of open fields are accepted", () => {
  const entry = {
    type: "message",
    extra: { type: "any" },
    message: {
      role: "assistant",
      stopReason: "any",
      cache: true,
      usage: { thinkingTokens: 1 },
      content: [{ type: "text", text: "", cache_control: { type: "ephemeral" }, inner: [{ type: "tool_use" }] }],
    },
  }
  expect(normalizeNewEntry(entry as never)).toEqual(entry)
  expect(normalizeNewEntry({ type: "custom", customType: "any thing", data: { type: "x", role: "y" } })).toBeDefined()
})

function invalid(problem: string): unknown {
  return expect.objectContaining({ code: "invalid", message: expect.stringContaining(problem) })
}

test.each(["tool_calls", "function_call"])(
  "a message with %s beside its content is refused, one with none is not",
  (field) => {
    const entry = (calls: unknown) =>
      ({ type: "message", message: { role: "assistant", content: "I look.", [field]: calls } }) as NewEntry
    const call = { id: "c1", type: "function", function: { name: "look", arguments: "{}" } }
    for (const calls of [[call], call])
      expect(() => normalizeNewEntry(entry(calls))).toThrow(
        invalid(
          `message.${field} is no field. Make each call a block of the content: { type: "toolCall", id, name, arguments }.`,
        ),
      )
    for (const none of [[], null, undefined]) expect(() => normalizeNewEntry(entry(none))).not.toThrow()
  },
)
