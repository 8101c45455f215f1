// Browsers refuse workers to pages opened from a disk; there the search runs in a hidden frame instead.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super()
      this.onerror = this.onmessage = null
      const frame = document.body.appendChild(document.createElement("iframe"))
      frame.hidden = true
      const inside = frame.contentWindow
      inside.document.open()
      inside.postMessage = (data) => {
        const event = new MessageEvent("message", { data })
        this.dispatchEvent(event)
        if (this.onmessage) this.onmessage(event)
      }
      inside.importScripts = (...urls) => Promise.all(urls.map((each) => new Promise((resolve, reject) => {
        const script = inside.document.createElement("script")
        script.src = new URL(each, url).href
        script.onload = resolve
        script.onerror = reject
        inside.document.head.append(script)
      })))
      inside.document.write(`<!doctype html><head></head><script src="${new URL(url, location.href).href}"></script>`)
      inside.document.close()
      this.frame = frame
    }
    postMessage(data) {
      this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data }))
    }
    terminate() {
      this.frame.remove()
    }
  }
}
