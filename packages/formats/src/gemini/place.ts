/** The places of the files of Gemini CLI in its folder (`.gemini` in `$GEMINI_CLI_HOME` or `~`). */

/** The file that has the path of a project's folder, in `tmp/<project>`. The importer asks for it, because a chat has only a hash of the path. */
export const PROJECT_ROOT = ".project_root"

/** The path of a chat below that folder, with `/` between its parts. `project`: the name of its folder there. `createdAt`: ISO 8601. */
export function geminiPathOf(project: string, id: string, createdAt: string): string {
  const time = new Date(createdAt).toISOString().slice(0, 16).replaceAll(":", "-")
  return `tmp/${project}/chats/session-${time}-${id.slice(0, 8)}.jsonl`
}
