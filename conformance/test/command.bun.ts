import { test } from "bun:test"
import { checkCommand } from "./command.ts"

test("the command reports on a subject in TypeScript", () => checkCommand())
