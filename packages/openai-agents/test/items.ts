/** Items of histories, as the SDK has them. */
type Pair = readonly [call: object, result: object]

/** A call of each kind under an id, and its result. */
export const kinds = {
  function: (callId: string): Pair => [
    { type: "function_call", callId, name: "look_up", arguments: "{}", status: "completed" },
    { type: "function_call_result", callId, name: "look_up", status: "completed", output: { type: "text", text: "x" } },
  ],
  shell: (callId: string): Pair => [
    { type: "shell_call", callId, status: "in_progress", action: { commands: ["ls"] } },
    {
      type: "shell_call_output",
      callId,
      output: [{ stdout: "a", stderr: "", outcome: { type: "exit", exitCode: 0 } }],
    },
  ],
  "shell without a status": (callId: string): Pair => [
    { type: "shell_call", callId, action: { commands: ["ls"] } },
    { type: "shell_call_output", callId, output: [] },
  ],
  "apply patch": (callId: string): Pair => [
    { type: "apply_patch_call", callId, status: "completed", operation: { type: "delete_file", path: "a" } },
    { type: "apply_patch_call_output", callId, status: "completed", output: "done" },
  ],
  computer: (callId: string): Pair => [
    {
      type: "computer_call",
      id: `cu_${callId}`,
      callId,
      status: "completed",
      action: { type: "screenshot" },
      // The SDK sends none that is empty.
      providerData: { pending_safety_checks: [{ id: "sc_1", code: "malicious_instructions", message: "Is it safe?" }] },
    },
    {
      type: "computer_call_result",
      callId,
      output: { type: "computer_screenshot", data: "https://example.org/a.png" },
    },
  ],
  "local shell": (call_id: string): Pair => [
    {
      type: "unknown",
      id: call_id,
      providerData: {
        type: "local_shell_call",
        call_id,
        status: "completed",
        action: { type: "exec", command: ["ls"], env: {} },
      },
    },
    { type: "unknown", id: `o${call_id}`, providerData: { type: "local_shell_call_output", call_id, output: "a" } },
  ],
  "an approval of MCP": (id: string): Pair => [
    {
      type: "hosted_tool_call",
      id,
      name: "mcp_approval_request",
      providerData: { type: "mcp_approval_request", id, server_label: "s", name: "n", arguments: "{}" },
    },
    {
      type: "hosted_tool_call",
      name: "mcp_approval_response",
      providerData: { type: "mcp_approval_response", approve: true, approval_request_id: id },
    },
  ],
  "tool search of the client": (callId: string): Pair => [
    { type: "tool_search_call", id: callId, callId, execution: "client", status: "completed", arguments: {} },
    { type: "tool_search_output", id: `o${callId}`, callId, execution: "client", status: "completed", tools: [] },
  ],
}

/** Complete by themselves, or not at all. */
export const hosted = (id: string, status: string): object => ({
  type: "hosted_tool_call",
  id,
  name: "web_search_call",
  status,
  providerData: { type: "web_search_call", action: { type: "search", query: "q" } },
})

export const reasoning = (id: string): object => ({
  type: "reasoning",
  id,
  content: [],
  providerData: { encrypted_content: "E" },
})
export const question = (text: string): object => ({ type: "message", role: "user", content: text })
