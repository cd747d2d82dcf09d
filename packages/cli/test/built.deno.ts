import { register } from "./built.ts"

register(Deno.test)
