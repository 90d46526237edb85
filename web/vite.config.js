import { defineConfig } from "vite";
import { stamped } from "./sources.js";

// File names without hashes: they live in the repository, and the server forbids caching.
export default defineConfig({
  base: "./",
  plugins: [stamped()],
  build: {
    outDir: "../src/fullspan/people/web/static",
    emptyOutDir: true,
    modulePreload: false,
    rollupOptions: {
      output: {
        entryFileNames: "explorer.js",
        chunkFileNames: "[name].js",
        assetFileNames: "explorer[extname]",
      },
    },
  },
  server: { proxy: { "/api": "http://127.0.0.1:8765" } },
});
