import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const here = (name) => fileURLToPath(new URL(name, import.meta.url));

/** A plugin that ends the script with the hash of what it was built from, so that a test without Node sees whether it was built again. */
export function stamped() {
  const names = ["index.html", "package-lock.json", ...readdirSync(here("./src")).map((name) => `src/${name}`)].sort();
  const hash = createHash("sha256");
  for (const name of names) hash.update(`${name}\n`).update(readFileSync(here(`./${name}`)));
  const stamp = `\n// built from ${hash.digest("hex")}\n`;
  return {
    name: "stamped",
    enforce: "post",
    generateBundle(_, bundle) {
      for (const chunk of Object.values(bundle)) if (chunk.type === "chunk") chunk.code += stamp;
    },
  };
}
