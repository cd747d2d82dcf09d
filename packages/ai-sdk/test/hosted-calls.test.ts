/** Calls that a provider executes itself, and that wait: they stay where it goes on with them, and no other provider gets them. */
import { convertToModelMessages, type UIMessage } from "ai"
import { expect, test } from "vitest"
import { fitAiSdk } from "@sessions/providers/ai-sdk"
import { AI_SDK, type AiSdkReceiver, bodyOf } from "../../providers/test/clients/ai-sdk.ts"
import { withRepair } from "../src/index.ts"
import { user } from "./model.ts"

type Part = UIMessage["parts"][number]

const toModelMessages = withRepair(convertToModelMessages)
const receiverOf = (name: string) => AI_SDK.find(({ provider }) => provider === name) as AiSdkReceiver

const search = {
  type: "tool-web_search",
  toolCallId: "srvtoolu_1",
  state: "input-available",
  input: { query: "q" },
  providerExecuted: true,
  callProviderMetadata: { anthropic: {} },
} as unknown as Part
const said: Part = { type: "text", text: "I look." }

/** What the provider gets of a chat that ends with this answer. */
async function sentOf(receiver: AiSdkReceiver, parts: readonly Part[], ...behind: readonly UIMessage[]) {
  const model = receiver.model({ url: "http://127.0.0.1:9" })
  const messages: UIMessage[] = [user("u1", "go"), { id: "a1", role: "assistant", parts: [...parts] }, ...behind]
  const fitted = fitAiSdk(await toModelMessages(messages), { model, store: receiver.isStored ?? false })
  const body = await bodyOf({ messages: fitted }, receiver)
  expect({ refused: receiver.refused(body).map(({ message }) => message), body }).toEqual({ refused: [], body })
  return JSON.stringify(body)
}

test.each(AI_SDK)(
  "$provider: a paused answer of Anthropic goes back to Anthropic as it was, and ends no other request",
  async (receiver) => {
    const sent = await sentOf(receiver, [said, search])
    expect(sent.includes("srvtoolu_1")).toBe(receiver.api === "anthropic")
    expect(await sentOf(receiver, [said, search], user("u2", "and?"))).not.toContain("srvtoolu_1")
    // What was killed behind the call is no pause.
    expect(await sentOf(receiver, [search, said])).not.toContain("srvtoolu_1")
  },
)

test.each([true, false])(
  "an MCP call of OpenAI that the user has approved (%s) or refused goes on where OpenAI has stored what it asked",
  async (approved) => {
    const decided = {
      type: "dynamic-tool",
      toolName: "mcp.echo",
      toolCallId: "aBcDeFgHiJkLmNoP",
      state: "approval-responded",
      input: {},
      providerExecuted: true,
      approval: { id: "mcpr_sdk_1", approved },
    } as unknown as Part
    for (const receiver of AI_SDK) {
      const sent = await sentOf(receiver, [said, decided])
      const item = `{"type":"mcp_approval_response","approval_request_id":"mcpr_sdk_1","approve":${approved}}`
      expect(sent.includes(item), receiver.provider).toBe(receiver.isStored === true)
      expect(await sentOf(receiver, [said, decided], user("u2", "and?"))).not.toContain("mcpr_sdk_1")
    }
  },
)

test("code of Anthropic that waits for a tool of the program gets its result, in each step", async () => {
  const anthropic = receiverOf("@ai-sdk/anthropic")
  const code = {
    type: "tool-code_execution",
    toolCallId: "srvtoolu_1",
    state: "input-available",
    input: { type: "programmatic-tool-call", code: "look()" },
    providerExecuted: true,
    callProviderMetadata: { anthropic: {} },
  } as unknown as Part
  const own = (toolCallId: string) =>
    ({
      type: "tool-look",
      toolCallId,
      state: "output-available",
      input: {},
      output: "seen",
      callProviderMetadata: { anthropic: { caller: { type: "code_execution_20250825", toolId: "srvtoolu_1" } } },
    }) as unknown as Part
  const step: Part = { type: "step-start" }
  for (const parts of [
    [code, own("toolu_1")],
    [code, own("toolu_1"), step, own("toolu_2")],
    [code, own("toolu_1"), step, own(`toolu_${"x".repeat(70)}`)],
  ]) {
    const sent = await sentOf(anthropic, parts)
    expect(sent).toContain(`{"type":"server_tool_use","id":"srvtoolu_1"`)
    expect(sent.match(/"tool_result"/g)).toHaveLength(parts.filter(({ type }) => type === "tool-look").length)
    for (const receiver of AI_SDK.filter(({ api }) => api !== "anthropic"))
      expect(await sentOf(receiver, parts)).not.toContain("srvtoolu_1")
  }
})
