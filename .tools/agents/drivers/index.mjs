// The agents whose programs are on a registry. A driver has
//
// - `format`, `title`: of our format; `package`: its name on the registry; `program(folder)`: the program in the folder of the installation
// - `env({ home, work, url, program })`: all of its environment beside PATH; `prepare` makes what the agent does not make itself in an empty home
// - `skills`: the folder of the skills of a project
// - `tools`: the call that the model makes for what a scene asks of a tool; `cannot`: why a feature of scenes is not there, if any is not
// - `command({ program, url, work, prompt, id, … })`: how it is asked; with `id` it resumes that session
// - `acts`: what is no prompt
// - `added`: what it puts into messages; `repairs`: what it says itself of a turn that was cut short when it resumes a session, and `interrupted`:
//   results for which it sends other words than it keeps; `withoutOpenCalls`: it does not send calls without a result that a question follows; `once`: it sends the results of
//   its own sessions twice when it resumes them
// - `sessions(place)`: its sessions, if `discover` does not list them
import { claudeCode } from "./claude-code.mjs"
import { codex } from "./codex.mjs"
import { copilot } from "./copilot.mjs"
import { gemini } from "./gemini.mjs"
import { opencode } from "./opencode.mjs"
import { pi } from "./pi.mjs"
import { qwenCode } from "./qwen-code.mjs"

export const AGENTS = [claudeCode, codex, copilot, gemini, opencode, pi, qwenCode]
