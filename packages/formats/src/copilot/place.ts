/** The path of a session's events below the folder of Copilot (`$COPILOT_HOME` or `~/.copilot`). */
export function copilotPathOf(id: string): string {
  return `session-state/${id}/events.jsonl`
}
