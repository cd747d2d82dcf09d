import { checkCommand } from "./command.ts"

Deno.test("the command reports on a subject in TypeScript", () =>
  checkCommand(["run", "-A", "--no-check", "--no-lock", "--cached-only"]))
