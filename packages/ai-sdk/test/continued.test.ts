/** The chunks of a message that a run continues, as a page takes them. */
import { readUIMessageStream, type UIMessage, type UIMessageChunk } from "ai"
import { expect, test } from "vitest"
import { startContinued } from "../src/streams/continued.ts"

test("the chunks of a message make the same message again", async () => {
  const tool = { type: "tool-look", input: { at: 1 } } as const
  const approval = { id: "ap", approved: true, reason: "Fine.", requestReason: "May I?", signature: "s" }
  const parts: unknown[] = [
    { type: "step-start" },
    { type: "reasoning", text: "hm", state: "done", providerMetadata: { p: { signature: "c2ln" } } },
    { type: "text", text: "I look.", state: "done", citations: [] },
    { type: "source-url", sourceId: "s", url: "https://example.org", title: "Example" },
    { type: "source-document", sourceId: "d", mediaType: "text/plain", title: "Notes", filename: "n.txt" },
    { type: "file", url: "data:text/plain,hi", mediaType: "text/plain" },
    { type: "data-weather", id: "w", data: { degrees: 21 } },
    { ...tool, toolCallId: "1", state: "output-available", output: { ok: true }, providerExecuted: false },
    { ...tool, toolCallId: "2", state: "output-error", errorText: "no network", providerExecuted: true },
    { ...tool, toolCallId: "3", state: "output-available", output: null, approval, providerExecuted: false },
    { type: "step-start" },
    {
      ...tool,
      toolCallId: "4",
      state: "output-denied",
      approval: { id: "b", approved: false },
      providerExecuted: false,
    },
    {
      ...tool,
      toolCallId: "5",
      state: "approval-responded",
      approval: { id: "c", approved: true },
      providerExecuted: false,
    },
    { ...tool, toolCallId: "6", state: "approval-requested", approval: { id: "d" } },
    { ...tool, toolCallId: "7", state: "input-available", title: "Look" },
    {
      type: "dynamic-tool",
      toolName: "d",
      toolCallId: "8",
      state: "output-available",
      input: [],
      output: 1,
      providerExecuted: false,
    },
    { type: "text", text: "and", state: "streaming" },
  ]
  const message = { id: "a1", role: "assistant", metadata: { tokens: 1, model: "m" }, parts } as UIMessage
  const start = { type: "start", messageId: "a1", messageMetadata: { tokens: 2 } }
  const stream = new ReadableStream<UIMessageChunk>({
    start(controller) {
      for (const chunk of startContinued(start, message)) controller.enqueue(chunk as UIMessageChunk)
      controller.close()
    },
  })
  let last: UIMessage | undefined
  const errors: unknown[] = []
  for await (const state of readUIMessageStream({ stream, onError: (error) => errors.push(error) })) last = state
  expect(errors).toEqual([])
  const made = JSON.parse(JSON.stringify(last)) as UIMessage
  const withoutIds = made.parts.map((part) => (part.type === "reasoning" ? { ...part, id: undefined } : part))
  expect({ ...made, parts: withoutIds }).toEqual({ ...message, metadata: { tokens: 2, model: "m" } })
})
