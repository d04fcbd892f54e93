package doctor

import (
	"context"
	"crypto/tls"
	"net/http"
	"net/url"

	"reprise/cmd/reprise/internal/config"
)

// listeners plans the checks of the addresses of the proxy.
func (x *exam) listeners(values *check) {
	c := x.cfg
	x.plan.add("listener.api", func(ctx context.Context) finding {
		return x.listener("LISTEN", c.Listen, func() bool { return x.isAPI(ctx) })
	}, values)
	x.plan.add("listener.admin", func(context.Context) finding {
		return x.listener("ADMIN_LISTEN", c.AdminListen, func() bool { return true })
	}, values)
}

// listener tries an address, which the running instance may have; own reports whether it is that which answers there.
func (x *exam) listener(name, address string, own func() bool) finding {
	l, err := config.Listen(name, address)
	switch {
	case err == nil:
		l.Close()
		return ok("%s is free", address)
	case !config.InUse(err):
		return failure("Choose an address of this machine, and a port from 1024.", "%v", err)
	}
	switch i := x.instance(); {
	case i.running && (i.status != http.StatusOK || own()): // it answers no request of the API before it is ready
		return ok("%s is that of the running instance", address)
	case i.err != nil && !isRefused(i.err):
		return skipped("what listens at %s does not answer", i.address)
	default:
		return failure("Stop the other program, which `ss -ltnp` names, or change the address.", "%v", err)
	}
}

// Name is the value of the header Cache-Status in the API's answer to OPTIONS *.
const Name = "reprise"

// isAPI reports whether a proxy of this program answers at the address of the API. It asks by OPTIONS *, which counts as no request.
func (x *exam) isAPI(ctx context.Context) bool {
	to := &url.URL{Scheme: "http", Host: config.Local(x.cfg.Listen), Opaque: "*"}
	use := client
	if x.cfg.TLSCert != "" {
		to.Scheme = "https"
		use = &http.Client{Transport: &http.Transport{DisableKeepAlives: true,
			TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}} // nothing secret is sent, and the name is that of this machine
	}
	resp, err := use.Do((&http.Request{Method: http.MethodOptions, URL: to}).WithContext(ctx))
	if err != nil {
		return false
	}
	resp.Body.Close()
	return resp.Header.Get("Cache-Status") == Name
}
