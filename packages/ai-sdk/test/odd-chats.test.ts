/** Chats that a property would not come to: each provider of the AI SDK takes what a route sends of them. */
import { createSessions } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"
import { convertToModelMessages, tool, type UIMessage } from "ai"
import { expect, test } from "vitest"
import { z } from "zod"
import { fitAiSdk } from "@sessions/providers/ai-sdk"
import { AI_SDK, bodyOf } from "../../providers/test/clients/ai-sdk.ts"
import { createChatStore, withRepair } from "../src/index.ts"

type Message = Pick<UIMessage, "role" | "parts">
type Part = UIMessage["parts"][number]

const tools = { look: tool({ inputSchema: z.looseObject({}), execute: async () => "seen" }) }
const toModelMessages = withRepair(convertToModelMessages)

/** A page may have stored what the types do not have. */
const partsOf = (parts: readonly object[]) => parts as Part[]
const asks = (...parts: readonly object[]): Message => ({
  role: "user",
  parts: partsOf(parts.length === 0 ? [text("q")] : parts),
})
const says = (...parts: readonly object[]): Message => ({
  role: "assistant",
  parts: partsOf([{ type: "step-start" }, ...parts]),
})
const text = (words: string, more: object = {}) => ({ type: "text", text: words, ...more })
const thinks = (providerMetadata: object, more: object = {}) => ({
  type: "reasoning",
  text: "hm",
  providerMetadata,
  ...more,
})
const call = (toolCallId: string, more: object = {}) => ({
  type: "tool-look",
  toolCallId,
  state: "output-available",
  input: {},
  output: "seen",
  ...more,
})
const named = (toolName: string) => ({ ...call(`of ${toolName}`), type: "dynamic-tool", toolName })
const failed = (errorText: string, more: object = {}) =>
  call("c1", { state: "output-error", output: undefined, errorText, ...more })
const decided = (toolCallId: string, approved = true) =>
  call(toolCallId, {
    state: "approval-responded",
    output: undefined,
    approval: { id: `of ${toolCallId}`, approved },
  })
const file = (mediaType: string, url = `data:${mediaType};base64,iVBORw0KGgo=`) => ({ type: "file", mediaType, url })
const calls = (count: number, of: (id: string) => object = call) => Array.from({ length: count }, (_, i) => of(`c${i}`))
const picture = { type: "content", value: [{ type: "image-data", data: "iVBORw0KGgo=", mediaType: "image/png" }] }

const CHATS: Readonly<Record<string, readonly Message[]>> = {
  "300 calls": [asks(), says(...calls(300))],
  "300 calls, the last one approved": [asks(), says(...calls(300), decided("last"))],
  "300 calls, the first one approved": [asks(), says(decided("first"), ...calls(300))],
  "300 calls that are all approved": [asks(), says(...calls(300, decided))],
  "an image in a result beside an approval": [asks(), says(call("c1", { output: picture }), decided("c2"))],
  "calls that are approved, refused and not decided": [
    asks(),
    says(decided("c1"), decided("c2", false), call("c3", { state: "input-available", output: undefined })),
  ],
  "names of tools that no provider takes": [
    asks(),
    says(...["mcp.server/tool name", "日本", "", "a".repeat(200), "9", "-x"].map(named)),
  ],
  "ids of calls that no provider takes": [
    asks(),
    says(...["", "😀", "a b", "a.b", "x".repeat(300)].map((id) => call(id))),
  ],
  "a tool that gives nothing": [asks(), says(call("c1", { output: undefined })), asks()],
  "a tool that gives null": [asks(), says(call("c1", { output: null })), asks()],
  ...Object.fromEntries(
    [undefined, "not json", [1], null].map((input) => [
      `the input ${JSON.stringify(input)}`,
      [asks(), says(call("c1", { input })), asks()],
    ]),
  ),
  "a failure without a text": [asks(), says(failed("")), asks()],
  "a failure of white space": [asks(), says(failed(" \n")), asks()],
  "a failure of a call whose input was cut off": [
    asks(),
    says(failed("no", { input: undefined, rawInput: "{half" })),
    asks(),
  ],
  "halves of surrogate pairs": [
    asks(text("half \ud83d")),
    says(text("\udc00"), call("c1", { input: { "\ud83d": "\ud83d" }, output: "x\ud83d" })),
    asks(text("\ud83d")),
  ],
  "blank texts": [asks(text(" ")), says(text(" ")), asks(text("\n")), says(text("")), asks(text(""))],
  "images of odd types": [
    asks(...["svg+xml", "jpg", "bmp", "heic", "avif", "x-icon"].map((type) => file(`image/${type}`))),
  ],
  "images without a type": [asks(file("image"), file("image/*"))],
  "an image without data": [asks(file("image/png", "data:image/png;base64,"), text("x"))],
  "a drawing in a URL with escapes": [asks(file("image/svg+xml", "data:image/svg+xml,%3Csvg%3E"), text("x"))],
  "an image whose URL has a charset": [asks(file("image/png", "data:image/png;charset=utf-8;base64,iVBORw0KGgo="))],
  "files of many types": [
    asks(
      ...["application/pdf", "text/plain", "text/csv", "audio/mpeg", "video/mp4", "application/json"].map((type) =>
        file(type),
      ),
    ),
  ],
  "a document alone": [asks(file("application/pdf", "data:application/pdf;base64,JVBERi0="))],
  "files in an answer": [asks(), says(file("image/png"), file("application/pdf"), text("x")), asks()],
  "an answer that is a file": [asks(), says(file("image/png")), asks()],
  "an image of the reasoning": [asks(), says({ ...file("image/png"), type: "reasoning-file" }, text("x")), asks()],
  "reasoning of several providers": [
    asks(),
    says(
      thinks({ anthropic: { signature: "c2ln" } }),
      thinks({ anthropic: { redactedData: "cg==" } }),
      thinks({ openai: { itemId: "rs_sdk_1", reasoningEncryptedContent: null } }),
      thinks({ google: { thoughtSignature: "no base64!" } }),
      thinks({}),
      text("x"),
    ),
    asks(),
  ],
  "signatures of a gateway": [
    asks(),
    says(call("c1", { callProviderMetadata: { google: { thoughtSignature: "claude#c2ln" } } })),
    asks(),
  ],
  "an item of OpenAI's in several parts": [
    asks(),
    says(
      ...[1, 2].map(() => thinks({ openai: { itemId: "rs_sdk_1", reasoningEncryptedContent: "ZQ==" } })),
      ...[1, 2].map(() => text("x", { providerMetadata: { openai: { itemId: "msg_sdk_1" } } })),
    ),
    asks(),
  ],
  "answers in a row": [asks(), says(text("a")), says(text("b")), says(call("c1")), says(text("c")), asks()],
  "an answer first": [says(text("Hello, I am a bot.")), asks()],
  "a compaction of OpenAI's": [
    asks(),
    says(
      {
        type: "custom",
        kind: "openai.compaction",
        providerMetadata: { openai: { itemId: "cmp_sdk_1", encryptedContent: "ZQ==" } },
      },
      text("x"),
    ),
    asks(),
  ],
  "a search before a text that was cut off": [
    asks(),
    says(
      {
        ...call("ws_cut_1", { output: { action: { type: "search", query: "q" } }, providerExecuted: true }),
        type: "tool-web_search",
      },
      text("I s", { state: "streaming", providerMetadata: { openai: { itemId: "msg_cut_1" } } }),
    ),
    asks(),
  ],
  "an output of parts that no provider has": [
    asks(),
    says(call("c1", { output: { type: "content", value: [{ type: "text", text: "" }, { type: "custom" }] } })),
    asks(),
  ],
}

test.each(AI_SDK)("$provider takes what a route sends of odd chats", async (receiver) => {
  const store = createChatStore<UIMessage>(createSessions({ storage: createMemoryStorage() }))
  const model = receiver.model({ url: "http://127.0.0.1:9" })
  for (const [name, chat] of Object.entries(CHATS)) {
    const id = `c${name.replaceAll(/\W/g, "")}`
    await store.saveChat({ id, messages: chat.map((message, i) => ({ id: `m${i}`, ...message })) })
    const converted = await toModelMessages(await store.loadChat(id), { tools })
    const fitted = fitAiSdk(converted, { model, store: receiver.isStored ?? false })
    const body = await bodyOf({ messages: fitted }, receiver, tools).catch((error: unknown) => ({
      error: String(error),
    }))
    const refused = "error" in body ? [body.error] : receiver.refused(body).map(({ message }) => message)
    expect({ name, refused, fitted: JSON.stringify(fitted).slice(0, 2_000) }).toMatchObject({ name, refused: [] })
    // What stands for a result until the SDK has executed the call.
    expect(JSON.stringify(body)).not.toContain("\\u0000waits")
  }
})
