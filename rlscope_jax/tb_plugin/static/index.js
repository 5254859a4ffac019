/* rlscope_jax, Apache-2.0. Holds Preact, MIT, (c) 2015-present Jason Miller. */
// node_modules/preact/dist/preact.mjs
var e, t, n, r, i, a, o, s, c, l, u = Symbol.for("pv"), d = {}, f = [], p = /^m(i|n|o|s|text|space)$/, m = Array.isArray, h = f.slice, g = Object.assign;
function _(e) {
	e && e.parentNode && e.remove();
}
function v(n, r, i, a, o) {
	var s = {
		type: n,
		props: r,
		key: i,
		ref: a,
		__k: null,
		__: null,
		__b: 0,
		__e: null,
		__c: null,
		constructor: u,
		__v: o || ++t,
		__i: -1,
		__u: 0
	};
	return !o && e.vnode && e.vnode(s), s;
}
function y(e) {
	return e.children;
}
function b(e, t) {
	this.props = e, this.context = t, this.__g = 0;
}
function x(e, t) {
	if (t == null) return e.__ && x(e.__, e.__i + 1);
	for (var n; t < e.__k.length; t++) if ((n = e.__k[t]) && n.__e) return n.__e;
	return typeof e.type != "function" || e.props.__P ? null : x(e);
}
function S(t) {
	var n, r = t.__v, i = r.__e, a = [], o = [], s = t.__P;
	s && ((n = g({ constructor: u }, r)).__v = r.__v + 1, e.vnode && e.vnode(n), j(s, n, r, t.__n, s.namespaceURI, 32 & r.__u ? [i] : null, a, i || x(r), 32 & r.__u, o), n.__v = r.__v, n.__.__k[n.__i] = n, M(a, n, o), r.__ = r.__e = null, n.__e != i && C(n));
}
function C(e) {
	if ((e = e.__) && e.__c && !e.props.__P) return e.__e = null, e.__k.some(function(t) {
		return t && (e.__e = t.__e);
	}), C(e);
}
function w(t) {
	(8 & t.__g || (t.__g |= 8, n.push(t), i++)) && r == e.debounceRendering || ((r = e.debounceRendering) || queueMicrotask)(T);
}
function T() {
	try {
		for (var e, t = 1; n.length;) n.length > t && n.sort(a), e = n.shift(), t = n.length, 8 & e.__g && S(e);
	} finally {
		(i = n.length) && (r || queueMicrotask)(T);
	}
}
function ee(e, t, n, r, i, a, o, s, c, l, u) {
	var p, m, h, g, _, v, y = r.__k || f, b = t.length;
	for (c = E(n, t, y, c, b), p = 0; p < b; p++) (h = n.__k[p]) != null && (m = ~h.__i && y[h.__i] || d, h.__i = p, v = j(e, h, m, i, a, o, s, c, l, u), g = h.__e, (m.ref != h.ref || 8 & m.__u) && (m.ref && ae(m.ref, null, h, m), h.ref && u.push(h.ref, h.__c || g, h)), _ ||= g, 4 & h.__u ? (c = D(h, c, e, !m.__v), m.__e && (m.__e = null)) : typeof h.type == "function" && v !== void 0 ? c = v : g && (c = g.nextSibling), h.__u &= -21);
	return n.__e = _, c;
}
function E(e, t, n, r, i) {
	var a, o, s, c, l, d, f, p, h, g = n.length, _ = g, b = 0, S = 0, C = e.__k = Array(i);
	for (a = 0; a < i; a++) (o = t[a]) != null && typeof o != "boolean" && typeof o != "function" ? (typeof o != "object" || o.constructor === String ? o = C[a] = v(null, o) : m(o) ? o = C[a] = v(y, { children: o }) : o.constructor === u && o.__b ? o = C[a] = v(o.type, o.props, o.key, o.ref, o.__v) : C[a] = o, c = a + b, o.__ = e, o.__b = e.__b + 1, s = null, ~(l = o.__i = O(o, n, c, _)) && (_--, (s = n[l]) && (s.__u |= 2)), s && s.__v ? (o.__u |= 16, l == c - 1 ? b-- : l == c + 1 ? b++ : l != c && (l > c ? b-- : b++, S = 1)) : (~l || (i > g ? b-- : i < g && b++), typeof o.type != "function" && (o.__u |= 4))) : C[a] = null;
	if (S) {
		for (d = [], f = [], a = 0; a < i; a++) if ((o = C[a]) && 16 & o.__u) {
			for (b = 0, p = d.length; b < p;) d[h = b + p >> 1] < o.__i ? b = h + 1 : p = h;
			d[b] = o.__i, f[a] = b + 1;
		}
		for (b = d.length; a--;) f[a] && (f[a] == b ? b-- : C[a].__u |= 4);
	}
	if (_) for (a = 0; a < g; a++) !(s = n[a]) || 2 & s.__u || (s.__e == r && (r = x(s)), oe(s, s));
	return r;
}
function D(e, t, n, r) {
	var i, a, o, s;
	if (typeof e.type == "function") {
		if (e.props.__P) return t;
		if (i = e.__k) for (a = 0; a < i.length; a++) i[a] && (i[a].__ = e, t = D(i[a], t, n, !1));
		return t;
	}
	for (t && !t.parentNode && (t = x(e)) && !t.parentNode && (t = null), o = e.__e, s = t; s && s.nodeType == 8;) s = s.nextSibling;
	for (o != s && (!r && n.moveBefore && o.parentNode ? n.moveBefore(o, t) : n.insertBefore(o, t || null)), t = o; (t &&= t.nextSibling) && t.nodeType == 8 && !t.data.startsWith("$s"););
	return t;
}
function O(e, t, n, r) {
	var i, a = e.key, o = e.type, s = t[n], c = s && !(2 & s.__u);
	if (s === null && a == null || c && a == s.key && o == s.type) return n;
	if (r > +!!c) {
		for (i = n - 1; i >= 0; i--) if ((s = t[i]) && !(2 & s.__u) && a == s.key && o == s.type) return i;
		for (i = n + 1; i < t.length; i++) if ((s = t[i]) && !(2 & s.__u) && a == s.key && o == s.type) return i;
	}
	return -1;
}
function k(e, t, n) {
	n ??= "", t[0] == "-" ? e.setProperty(t, n) : e[t] = n;
}
function A(e, t, n, r, i) {
	var a, o;
	if (t == "style") {
		if (typeof n == "string") e.style.cssText = n;
		else {
			if (typeof r == "string" && (e.style.cssText = r = ""), r) for (t in r) n && t in n || k(e.style, t);
			if (n) for (t in n) r && n[t] == r[t] || k(e.style, t, n[t]);
		}
	} else if (t[0] == "o" && t[1] == "n") typeof n != "function" && (n = null), typeof r != "function" && (r = null), (e.__e ||= {})[t] = n, n && r || (o = l[t] || (l[t] = te(t)), (e.__a ||= {})[t] = c, a = t != (t = t.replace(s, "$1")), (t = t.slice(2))[0] < "a" && (t = t.toLowerCase()), n ? e.addEventListener(t, o, a) : e.removeEventListener(t, o, a));
	else {
		if (i == "http://www.w3.org/2000/svg") t = t.replace(/xlink(H|:h)/, "h").replace(/sName$/, "s");
		else if (t != "width" && t != "height" && t != "href" && t != "list" && t != "form" && t != "tabIndex" && t != "download" && t != "rowSpan" && t != "colSpan" && t != "role" && t != "popover" && t in e) try {
			e[t] = n ?? "";
			return;
		} catch {}
		if (typeof n == "function") return;
		n == null || !1 === n && t[4] != "-" ? e.removeAttribute(t) : e.setAttribute(t, t == "popover" && n == 1 ? "" : n);
	}
}
function te(t) {
	return function(n) {
		var r = this.__e;
		if (r) {
			if (r = r[t], n[o] == null) n[o] = c++;
			else if (n[o] < this.__a[t]) return;
			return r(e.event ? e.event(n) : n);
		}
	};
}
function j(t, n, r, i, a, o, s, c, l, d) {
	var p, h, v, S, C, w, T, E, D, O, k, A, te, j, M, ae, N, P, F = n.type;
	if (n.constructor !== u) return null;
	128 & r.__u && (l = 32 & r.__u, p = r.__c.__z) && (n.__u |= l, h = o = [], p.nodeType == 8 ? c = ne(p, o) : o.push(p), c = o[0] || c), (p = e.__b) && p(n);
	n: if (typeof F == "function") {
		v = s.length;
		try {
			if (E = n.props, D = (p = F.prototype) && p.render, O = (p = F.contextType) && i[p.__c], k = p ? O ? O.props.value : p.__ : i, (S = r.__c) ? (n.__c = S, 2 & S.__g && (S.__g |= 1)) : (D ? n.__c = S = new F(E, k) : (n.__c = S = new b(E, k), S.constructor = F, S.render = se), O && O.sub(S), S.state || (S.state = {}), S.__n = i, S.__g |= 8, S.__h = [], S.__k = []), D && (S.__s || (S.__s = S.state), F.getDerivedStateFromProps && (S.__s == S.state && (S.__s = g({}, S.__s)), g(S.__s, F.getDerivedStateFromProps(E, S.__s)))), C = S.props, w = S.state, S.__v = n, r.__c) {
				if (E !== C && D && !F.getDerivedStateFromProps && S.componentWillReceiveProps && S.componentWillReceiveProps(E, k), n.__v == r.__v && !(8 & S.__g) || !(4 & S.__g) && S.shouldComponentUpdate && !1 === S.shouldComponentUpdate(E, S.__s, k)) {
					n.__v != r.__v && (S.props = E, S.state = S.__s, S.__g &= -9), n.__e = r.__e, n.__k = r.__k, n.__k.some(function(e) {
						e && (e.__ = n);
					}), f.push.apply(S.__h, S.__k), S.__k = [], S.__h.length && s.push(S), c = x(r);
					break n;
				}
				S.componentWillUpdate && S.componentWillUpdate(E, S.__s, k), D && S.componentDidUpdate && S.__h.push(function() {
					S.componentDidUpdate(C, w, T);
				});
			} else D && !F.getDerivedStateFromProps && S.componentWillMount && S.componentWillMount(), D && S.componentDidMount && S.__h.push(S.componentDidMount);
			S.context = k, S.props = E, S.__P = t, S.__g &= -5, A = e.__r, te = D ? 25 : 0;
			do
				S.__g &= -9, A && A(n), p = S.render(S.props, S.state = S.__s, S.context);
			while (8 & S.__g && ++te < 25);
			D && (f.push.apply(S.__h, S.__k), S.__k = []), S.state = S.__s, S.getChildContext && (i = g({}, i, S.getChildContext())), D && r.__c && S.getSnapshotBeforeUpdate && (T = S.getSnapshotBeforeUpdate(C, w)), j = p && p.type === y && p.key == null ? p.props.children : p, E.__P && (p = c, a = (t = E.__P).namespaceURI, l = o = null, r.props && r.props.__P != t && (r.__k.some(function(e) {
				e && oe(e, e);
			}), r.__k = null), c = r.__k ? x(r, 0) : null), c = ee(t, m(j) ? j : [j], n, r, i, a, o, s, c, l, d), E.__P && (n.__e = null, c = p), n.__u &= -161, h && h.some(_), S.__h.length && s.push(S), 1 & S.__g && (S.__g &= -4);
		} catch (t) {
			if (s.length = v, n.__v = null, l || o) {
				if (t && t.then) {
					if (n.__u |= 128 | l, o) {
						for (~(N = o.indexOf(c || void 0)) || (N = o.length); (P = o[N - 1]) && P.nodeType == 8;) N--;
						for (; N < o.length; N++) if (P = o[N]) {
							if (o[N] = null, M) {
								if (P == ae) break;
							} else {
								if (P.nodeType != 8) break;
								P.data.startsWith("$s") && (ae = ne(M = P));
							}
						}
					}
					if (!M) {
						for (; c && c.nodeType == 8 && c.nextSibling;) c = c.nextSibling;
						M = c;
					}
					(p = ne(M = n.__c.__z || (n.__c.__z = M))) ? (n.__e = M, c = p) : n.__e = c, c &&= c.nextSibling;
				} else o && o.some(_);
			} else n.__e = r.__e;
			n.__k ||= r.__k || [], t && t.then || re(n), e.__e(t, n, r);
		}
	} else c = n.__e = ie(r.__e, n, r, i, a, o, s, l, d, t);
	return (p = e.diffed) && p(n), c;
}
function ne(e, t) {
	if (e && e.nodeType == 8 && e.data.startsWith("$s")) for (var n = 1; e = e.nextSibling;) {
		if (e.nodeType == 8) {
			if (e.data.startsWith("$s")) n++;
			else if (e.data.startsWith("/$s") && !--n) return e;
		}
		t && t.push(e);
	}
}
function re(e) {
	e && (e.__c && (e.__c.__g |= 4), e.__k && e.__k.some(re));
}
function M(t, n, r) {
	for (var i = 0; i < r.length;) ae(r[i++], r[i++], r[i++]);
	e.__c && e.__c(n, t), t.some(function(n) {
		try {
			t = n.__h, n.__h = [], t.some(function(e) {
				e.call(n);
			});
		} catch (t) {
			e.__e(t, n.__v);
		}
	});
}
function ie(t, n, r, i, a, o, s, c, l, u) {
	var f, g, v, y, b, S, C, w, T = r.props || d, E = n.props, D = n.type;
	if (D == "svg" ? a = "http://www.w3.org/2000/svg" : D == "math" ? a = "http://www.w3.org/1998/Math/MathML" : a ||= "http://www.w3.org/1999/xhtml", o) {
		for (f = 0; f < o.length; f++) if ((b = o[f]) && (D ? b.localName == D : b.nodeType == 3)) {
			t = b, o[f] = null;
			break;
		}
	}
	if (!t) {
		if (w = u.ownerDocument || document, !D) return w.createTextNode(E);
		t = w.createElementNS(a, D, E.is ? E : u), c &&= (e.__m && e.__m(n, o), !1), o = null;
	}
	if (D) {
		if (u = D == "template" && t.content || t, o = D == "textarea" && E.defaultValue != null ? null : o && h.call(u.childNodes), !c && o) for (T = {}, f = 0; f < t.attributes.length; f++) T[(b = t.attributes[f]).name] = b.value;
		for (f in T) b = T[f], f == "dangerouslySetInnerHTML" ? v = b : f == "children" || f in E || f == "value" && "defaultValue" in E || f == "checked" && "defaultChecked" in E || A(t, f, null, b, a);
		for (f in E) b = E[f], f == "children" ? y = b : f == "dangerouslySetInnerHTML" ? g = b : f == "value" ? S = b : f == "checked" ? C = b : c && typeof b != "function" || T[f] === b || A(t, f, b, T[f], a);
		g ? (c || v && (g.__html == v.__html || g.__html == t.innerHTML) || (t.innerHTML = g.__html), n.__k = []) : (v && (t.textContent = ""), (D == "foreignObject" || a == "http://www.w3.org/1998/Math/MathML" && p.test(D)) && (a = "http://www.w3.org/1999/xhtml"), ee(u, m(y) ? y : [y], n, r, i, a, o, s, o ? o[0] : r.__k && x(r, 0), c, l), o && o.some(_)), c && D != "textarea" || (f = "value", D == "progress" && S == null ? t.removeAttribute(f) : S == null || S === t[f] && (D != "progress" || S) || A(t, f, S, T[f], a), f = "checked", C != null && C != t[f] && A(t, f, C, T[f], a));
	} else T === E || c && t.data == E || (t.data = E);
	return t;
}
function ae(t, n, r, i) {
	try {
		typeof t == "function" ? n ? n.__x = t(n) || 1 : (i &&= i.__c || i.__e) && (n = i.__x) && (i.__x = null, typeof n == "function" ? n() : t(null)) : t.current = n;
	} catch (t) {
		e.__e(t, r);
	}
}
function oe(t, n, r) {
	var i, a, o, s;
	if (e.unmount && e.unmount(t), !(i = t.ref) || i.current && i.current != t.__e || ae(i, null, n, t), i = t.__c) {
		if (i.componentWillUnmount) try {
			i.componentWillUnmount();
		} catch (t) {
			e.__e(t, n);
		}
		i.__P = i.__n = null;
	}
	if (i = t.__k) for (s = 0; s < i.length; s++) i[s] && oe(i[s], n, typeof t.type != "function" || r && !t.props.__P);
	!r && (i = t.__c) && (i = i.__z) && (a = ne(i, o = [])) && (i == t.__e && o.some(_), _(a), _(i)), r || _(t.__e), t.__e = t.__c = t.__ = null;
}
function se(e, t, n) {
	return this.constructor(e, n);
}
function N(t, n) {
	var r, i, a, o;
	e.__ && e.__(t, n), n.nodeType == 9 && (n = n.documentElement), i = (r = t && 32 & t.__u) ? null : n.__k, n.__k = v(y, { children: [t] }), a = [], o = [], j(n, n.__k, i || d, d, n.namespaceURI, i ? null : n.firstChild ? h.call(n.childNodes) : null, a, i ? i.__e : n.firstChild, r, o), M(a, n.__k, o), n.__k.props.children = null;
}
e = { __e: function(e, t, n, r) {
	for (var a, o, s; t = t.__;) if ((a = t.__c) && !(1 & a.__g)) {
		a.__g |= 4;
		try {
			if ((s = (o = a.constructor) && o.getDerivedStateFromError) && a.setState(o.getDerivedStateFromError(e)), a.componentDidCatch && (a.componentDidCatch(e, r || {}), s = 1), s && 8 & a.__g) return void (a.__g |= 2);
		} catch (t) {
			e = t;
		}
	}
	throw i = 0, e;
} }, t = 0, b.prototype.setState = function(e, t) {
	var n = this.__s;
	n && n != this.state || (n = this.__s = g({}, this.state)), typeof e == "function" && (e = e(g({}, n), this.props)), e && (g(n, e), this.__v && (t && this.__k.push(t), w(this)));
}, b.prototype.forceUpdate = function(e) {
	this.__v && (this.__g |= 4, e && this.__h.push(e), w(this));
}, b.prototype.render = y, n = [], i = 0, a = function(e, t) {
	return e.__v.__b - t.__v.__b;
}, o = Symbol(), s = /(PointerCapture)$|Capture$/i, c = 0, l = {};
// node_modules/preact/hooks/dist/hooks.mjs
var P, F, ce, le, ue = Object.is, de = 0, fe = [], pe = [], I = e, me = I.__b, he = I.__r, ge = I.diffed, _e = I.__c, ve = I.unmount, ye = I.__;
function be(e, t) {
	I.__h && I.__h(F, e, de || t), de = 0;
	var n = F.__H || (F.__H = {
		__: [],
		__h: []
	});
	return e >= n.__.length && n.__.push({}), n.__[e];
}
function L(e) {
	return de = 1, xe(je, e);
}
function xe(e, t, n) {
	var r = be(P++, 2);
	if (r.t = e, !r.__c && (r.__ = [n ? n(t) : je(void 0, t), function(e) {
		var t = (r.__N || r.__)[0], n = r.t(t, e);
		ue(t, n) || (r.__N = [n, r.__[1]], r.__c.setState({}));
	}], r.__c = F, !F.__f)) {
		F.__f = !0;
		var i = F.shouldComponentUpdate;
		F.shouldComponentUpdate = function(e, t, n) {
			var r = this.__H;
			if (!r) return !0;
			var a = !1, o = this.props != e;
			if (r.__.some(function(e) {
				e.__N && (a = !0, ue(e.__[0], e.__N[0]) || (o = !0));
			}), i) {
				var s = i.call(this, e, t, n);
				return a ? s || o : s;
			}
			return !a || o;
		};
	}
	return r.__;
}
function R(e, t) {
	var n = be(P++, 3);
	!I.__s && Ae(n.__H, t) && (n.__P = !0, n.__ = e, n.u = t, F.__H.__h.push(n));
}
function Se(e, t) {
	var n = be(P++, 4);
	!I.__s && Ae(n.__H, t) && (n.__P = !1, n.__ = e, n.u = t, F.__h.push(n));
}
function z(e) {
	return de = 5, B(function() {
		return { current: e };
	}, []);
}
function B(e, t) {
	var n = be(P++, 7);
	return Ae(n.__H, t) && (n.__ = e(), n.__H = t), n.__;
}
function Ce(e, t) {
	return de = 8, B(function() {
		return e;
	}, t);
}
function we() {
	var e;
	do {
		for (; e = pe.shift();) try {
			Oe(e);
		} catch (t) {
			I.__e(t, { __: (e = e.__P) && e.__v });
		}
		for (; e = fe.shift();) {
			var t = e.__H;
			if (e.__P && t) try {
				t.__h.some(Oe), t.__h.some(ke), t.__h = [];
			} catch (n) {
				t.__h = [], I.__e(n, e.__v);
			}
		}
	} while (pe.length);
}
I.__b = function(e) {
	F = null, me && me(e);
}, I.__ = function(e, t) {
	e && t.__k && t.__k.__m && (e.__m = t.__k.__m), ye && ye(e, t);
}, I.__r = function(e) {
	he && he(e), P = 0;
	var t = (F = e.__c).__H;
	t && (ce == F ? F.__h = [] : (t.__h.some(Oe), t.__h.some(ke), P = 0), t.__h = [], t.__.some(function(e) {
		e.__N && (e.__ = e.__N), e.u = e.__N = void 0;
	})), ce = F;
}, I.diffed = function(e) {
	ge && ge(e);
	var t = e.__c;
	t && t.__H && (t.__H.__h.length && De(fe.push(t)), t.__H.__.some(function(e) {
		e.u && (e.__H = e.u);
	})), ce = F = null;
}, I.__c = function(e, t) {
	t.some(function(e) {
		try {
			e.__h.some(Oe), e.__h = e.__h.filter(function(e) {
				return !e.__ || ke(e);
			});
		} catch (t) {
			e.__h = [function() {
				throw t;
			}];
		}
	}), _e && _e(e, t);
}, I.unmount = function(e) {
	ve && ve(e);
	var t, n, r = e.__c;
	r && r.__H && (r.__H.__.some(function(r) {
		try {
			if (r.__P && r.__c) {
				if (n === void 0) {
					for (n = e.__; n && (!n.__c || !n.__c.__P);) n = n.__;
					n &&= n.__c;
				}
				r.__P = n, De(pe.push(r));
			} else Oe(r);
		} catch (e) {
			t = e;
		}
	}), r.__H = void 0, t && I.__e(t, r.__v));
};
var Te = typeof requestAnimationFrame == "function";
function Ee(e) {
	var t, n = function() {
		clearTimeout(r), Te && cancelAnimationFrame(t), setTimeout(e);
	}, r = setTimeout(n, 35);
	Te && (t = requestAnimationFrame(n));
}
function De(e) {
	e != 1 && le == I.requestAnimationFrame || ((le = I.requestAnimationFrame) || Ee)(we);
}
function Oe(e) {
	var t = F, n = e.__c;
	typeof n == "function" && (e.__c = void 0, n()), F = t;
}
function ke(e) {
	var t = F;
	e.__c = e.__(), F = t;
}
function Ae(e, t) {
	return !e || e.length != t.length || t.some(function(t, n) {
		return !ue(t, e[n]);
	});
}
function je(e, t) {
	return typeof t == "function" ? t(e) : t;
}
// node_modules/preact/jsx-runtime/dist/jsxRuntime.mjs
var Me = Symbol.for("pv"), Ne = 0;
Array.isArray;
function V(t, n, r, i, a, o) {
	n ||= {};
	var s, c, l = n;
	if ("ref" in l && typeof t != "function") for (c in l = {}, n) c == "ref" ? s = n[c] : l[c] = n[c];
	var u = {
		type: t,
		props: l,
		key: r,
		ref: s,
		__k: null,
		__: null,
		__b: 0,
		__e: null,
		__c: null,
		constructor: Me,
		__v: --Ne,
		__i: -1,
		__u: 0
	};
	return (a || o) && (u.__source = a, u.__self = o), e.vnode && e.vnode(u), u;
}
// src/components/Message.tsx
function H({ title: e, kind: t = "plain", hint: n, action: r, onAction: i, children: a }) {
	return /* @__PURE__ */ V("section", {
		class: `message ${t}`,
		role: t === "bad" ? "alert" : "status",
		children: [
			/* @__PURE__ */ V("h1", { children: e }),
			a,
			n && /* @__PURE__ */ V("p", { children: n }),
			r && /* @__PURE__ */ V("button", {
				type: "button",
				class: "action",
				onClick: i,
				children: r
			})
		]
	});
}
function Pe({ progress: e }) {
	let t = Math.round(100 * e.progress), n = e.state === "waiting", r = e.ahead > 1 ? `after ${e.ahead - 1} others` : "as soon as another one is done";
	return /* @__PURE__ */ V(H, {
		title: n ? `This recording is read ${r}` : "Reading the recording",
		children: [/* @__PURE__ */ V("progress", {
			"aria-label": "Reading",
			max: 100,
			value: n || !t ? void 0 : t
		}), /* @__PURE__ */ V("p", { children: [n ? "Waiting" : Fe(e), ". What is read is kept: the next time it opens at once."] })]
	});
}
function Fe({ stage: e, progress: t }) {
	return e === "writing" ? "Adding up" : e === "starting" ? "Starting" : `${Math.round(100 * t)} % decoded`;
}
// src/views/Empty.tsx
var Ie = "import rlscope_jax\nwith rlscope_jax.profile(\"LOGDIR\") as profiler:  # the directory TensorBoard shows\n    state = train_step(state); profiler.step(state)";
function Le({ listing: e, onRefresh: t }) {
	let n = e.looked_in[0]?.path ?? "LOGDIR";
	return /* @__PURE__ */ V(H, {
		title: "No recording was found",
		action: "Look again",
		onAction: t,
		children: [
			/* @__PURE__ */ V("p", { children: [
				"A recording is a file ",
				/* @__PURE__ */ V("code", { children: "plugins/profile/<session>/<host>.xplane.pb" }),
				". It was looked for in:"
			] }),
			/* @__PURE__ */ V("ul", { children: [e.looked_in.map((e) => /* @__PURE__ */ V("li", { children: [
				/* @__PURE__ */ V("code", { children: e.path }),
				": ",
				e.problem ?? `${e.directories} directories, none with a recording`
			] }, e.path)), !e.looked_in.length && /* @__PURE__ */ V("li", { children: "nowhere: TensorBoard was started without a log directory" })] }),
			e.truncated && /* @__PURE__ */ V("p", { children: "There are more directories than it looks through; give a log directory nearer to the runs." }),
			e.unreadable.length > 0 && /* @__PURE__ */ V(y, { children: [/* @__PURE__ */ V("p", { children: "These could not be read:" }), /* @__PURE__ */ V("ul", { children: e.unreadable.map((e) => /* @__PURE__ */ V("li", { children: [
				/* @__PURE__ */ V("code", { children: e.path }),
				": ",
				e.reason
			] }, e.path)) })] }),
			e.lost.length > 0 && /* @__PURE__ */ V(y, { children: [/* @__PURE__ */ V("p", { children: "These describe a recording whose file is gone:" }), /* @__PURE__ */ V("ul", { children: e.lost.slice(0, 10).map((e) => /* @__PURE__ */ V("li", { children: /* @__PURE__ */ V("code", { children: e }) }, e)) })] }),
			/* @__PURE__ */ V("p", { children: "These three lines make one:" }),
			/* @__PURE__ */ V("pre", { children: /* @__PURE__ */ V("code", { children: Ie.replace("LOGDIR", n) }) })
		]
	});
}
// src/colors.ts
var Re = {
	device_only: "device only",
	overlap: "device and host",
	python: "Python",
	dispatch: "dispatch",
	inline: "inline op",
	compile: "compile",
	transfer: "transfer",
	callback: "callback",
	wait: "wait",
	wait_inferred: "wait (inferred)",
	runtime: "runtime",
	idle: "idle"
}, ze = /* @__PURE__ */ new Set([
	"wait",
	"wait_inferred",
	"idle"
]);
function Be(e) {
	let t = Object.keys(Re), n = (e) => t.includes(e) ? t.indexOf(e) : t.length;
	return [...new Set(e)].sort((e, t) => n(e) - n(t));
}
var Ve = {
	device_only: "#2f6fd0",
	overlap: "#1f9e9a",
	python: "#f0b323",
	dispatch: "#ec7a33",
	inline: "#7fa7e0",
	compile: "#c2336f",
	transfer: "#8d5cc0",
	callback: "#d33f3f",
	wait: "#b7c1cc",
	wait_inferred: "#d3dae1",
	runtime: "#9a8571",
	idle: "#dfe3e8"
}, He = {
	...Ve,
	device_only: "#5b95ea",
	overlap: "#36b8b0",
	python: "#e8b545",
	dispatch: "#f0894a",
	inline: "#456a9e",
	compile: "#dd5f92",
	transfer: "#a884d8",
	callback: "#e46666",
	wait: "#616b78",
	wait_inferred: "#4d5662",
	runtime: "#ab9681",
	idle: "#444c57"
};
function Ue(e, t) {
	return (t ? He : Ve)[e] ?? "#8a8f98";
}
var We = [
	214,
	28,
	150,
	330,
	265,
	48,
	184,
	8,
	100,
	295
], Ge = class {
	hues = /* @__PURE__ */ new Map();
	constructor(e) {
		for (let t of e) this.hueOf(t);
	}
	hueOf(e) {
		let t = e.split("/", 1)[0], n = this.hues.get(t);
		return n === void 0 && (n = We[this.hues.size % We.length], t.startsWith("(") || this.hues.set(t, n)), n;
	}
	of(e, t, n) {
		if (e === "(idle)") return Ue("idle", n);
		if (e.startsWith("(")) return n ? "hsl(215 6% 42%)" : "hsl(215 8% 74%)";
		let r = e.slice(e.indexOf("/") + 1), i = 0;
		if (r !== e) for (let e of r) i = (i * 31 + e.charCodeAt(0)) % 997;
		let a = i % 5 * 4.5, o = (t === "backward" ? 38 : 58) - (n ? 14 : 0);
		return `hsl(${this.hueOf(e)} ${o}% ${(n ? 40 : 62) + a}%)`;
	}
};
function Ke(e) {
	let [t, n, r] = qe(e).map((e) => e <= .04045 ? e / 12.92 : ((e + .055) / 1.055) ** 2.4);
	return .2126 * t + .7152 * n + .0722 * r > .179 ? "#000000" : "#ffffff";
}
function qe(e) {
	if (e.startsWith("#")) return [
		1,
		3,
		5
	].map((t) => parseInt(e.slice(t, t + 2), 16) / 255);
	let [t, n, r] = e.match(/[\d.]+/g).map(Number), i = n / 100 * Math.min(r / 100, 1 - r / 100);
	return [
		0,
		8,
		4
	].map((e) => {
		let n = (e + t / 30) % 12;
		return r / 100 - i * Math.max(-1, Math.min(n - 3, 9 - n, 1));
	});
}
// src/format.ts
var U = [
	[1e9, "s"],
	[1e6, "ms"],
	[1e3, "µs"],
	[1, "ns"]
];
function Je(e) {
	let [t, n] = U.find(([t]) => Math.abs(e) >= 10 * t) ?? (e === 0 ? U[1] : U[3]);
	return {
		scale: t,
		name: n
	};
}
function W(e) {
	if (e === null) return "not known";
	if (e === 0) return "0";
	let [t, n] = U.find(([t]) => Math.abs(e) >= t) ?? U[3];
	return `${J(e / t)} ${n}`;
}
function Ye([e, t]) {
	let [n, r] = U.find(([e]) => Math.abs(t) >= e) ?? U[3];
	return `${J(e / n)} to ${J(t / n)} ${r}`;
}
function G(e, t) {
	if (e === null) return "–";
	if (e === 0) return "·";
	let n = e / t.scale;
	return Math.abs(n) < .005 ? "<0.01" : Ze(n, 2);
}
function K(e, t) {
	if (e === null || !t) return "–";
	let n = 100 * e / t;
	return n > 0 && n < .05 ? "<0.1 %" : `${n.toFixed(1)} %`;
}
function q(e) {
	return e == null ? "–" : e === 0 ? "·" : Ze(e, 0);
}
function Xe(e) {
	return e >= 1e9 ? `${J(e / 1e9)} GB` : e >= 1e6 ? `${J(e / 1e6)} MB` : `${J(Math.max(e / 1e3, .1))} kB`;
}
function J(e) {
	let t = Math.abs(e);
	return Ze(e, t >= 100 ? 0 : t >= 10 ? 1 : 2);
}
function Ze(e, t) {
	return e.toLocaleString("en", {
		minimumFractionDigits: t,
		maximumFractionDigits: t
	});
}
function Qe(e, t) {
	return `${e.toLocaleString("en")} ${t}${e === 1 ? "" : t.endsWith("h") ? "es" : "s"}`;
}
function $e(e, t) {
	if (e.length <= t) return e;
	let n = e.split("/"), [r, i] = [n[0], n.at(-1)];
	for (let e = n.length - 2; e >= 1; e--) {
		let i = [
			r,
			"…",
			...n.slice(-e)
		].join("/");
		if (i.length <= t) return i;
	}
	return n.length > 1 && i.length + 2 <= t ? `…/${i}` : `${e.slice(0, t - 12)}…${e.slice(-11)}`;
}
// src/components/Icicle.tsx
var et = 24, tt = 12, nt = .15;
function rt({ roots: e, read: t, colors: n, dark: r, chosen: i, onChoose: a }) {
	let o = e.reduce((e, n) => e + t(n), 0), s = o > 0 ? it(e, t, o, 0, 0) : [];
	return /* @__PURE__ */ V("div", {
		class: "icicle",
		style: { height: `${(Math.max(0, ...s.map((e) => e.row)) + 1) * et}px` },
		children: s.map(({ node: e, key: s, few: c, left: l, width: u, row: d }) => {
			let f = {
				left: `${l}%`,
				width: `${u}%`,
				top: `${d * et}px`
			};
			if (!e) {
				let e = `${c.toLocaleString("en")} more, each too narrow to show`;
				return /* @__PURE__ */ V("div", {
					class: "few",
					style: f,
					title: e,
					children: u > 5 && e
				}, s);
			}
			let p = n.of(e.path, null, r);
			return /* @__PURE__ */ V("button", {
				type: "button",
				tabIndex: u < 1 ? -1 : 0,
				"aria-pressed": e.key === i,
				style: {
					...f,
					background: p,
					color: Ke(p)
				},
				title: `${e.path}\n${W(t(e))} (${K(t(e), o)})`,
				"aria-label": `${e.path}: ${W(t(e))}`,
				onClick: () => a(e),
				children: u > 1.5 && e.name
			}, e.key);
		})
	});
}
function it(e, t, n, r, i) {
	let a = [];
	if (i >= tt) return a;
	let [o, s] = [0, 0];
	for (let c of e) {
		let e = 100 * t(c) / n;
		e < nt ? (o += Number(e > 0), s += e) : (a.push({
			node: c,
			key: c.key,
			few: 0,
			left: r,
			width: e,
			row: i
		}, ...it(c.children, t, n, r, i + 1)), r += e);
	}
	return s >= nt && a.push({
		node: null,
		key: `${i}|${r}`,
		few: o,
		left: r,
		width: s,
		row: i
	}), a;
}
// src/model.ts
function Y(e, t) {
	return e ? t && e.corrected !== null ? {
		value: e.corrected,
		interval: e.interval
	} : {
		value: e.raw,
		interval: null
	} : {
		value: null,
		interval: null
	};
}
function X(e, t) {
	return Y(e, t).value ?? 0;
}
function at(e) {
	return e.overhead.correction !== "none" && e.totals.wall.corrected !== null;
}
function ot(e, t) {
	let n = (n) => e.reduce((e, r) => e + X(n(r), t), 0), r = new Set(e.flatMap((e) => Object.keys(e.wall.host_only_categories)));
	return [
		{
			key: "device_only",
			value: n((e) => e.wall.device_only)
		},
		{
			key: "overlap",
			value: n((e) => e.wall.overlap)
		},
		...[...r].map((e) => ({
			key: e,
			value: n((t) => t.wall.host_only_categories[e])
		})),
		{
			key: "idle",
			value: n((e) => e.wall.idle)
		}
	].filter((e) => e.value > 0);
}
var st = [
	"device_only",
	"overlap",
	"host_only",
	"idle"
];
function ct(e, t) {
	return st.reduce((n, r) => n + X(e.wall[r], t), 0);
}
function lt(e, t) {
	if (!t) return null;
	let [n, r, i] = [
		0,
		0,
		!1
	];
	for (let t of e) for (let e of st) {
		let { value: a, interval: o } = Y(t.wall[e], !0);
		o && (i = !0), n += o ? o[0] : a ?? 0, r += o ? o[1] : a ?? 0;
	}
	return i ? [n, r] : null;
}
function ut(e, t) {
	return `${e}|${t}`;
}
function dt(e, t) {
	let n = /* @__PURE__ */ new Map(), r = [], i = (e, t) => {
		let a = ut(e, t), o = n.get(a);
		if (o) return o;
		let s = t.startsWith("("), c = s ? -1 : t.lastIndexOf("/"), l = ft(a, e, t, t.slice(c + 1), s);
		if (n.set(a, l), c < 0) r.push(l);
		else {
			let n = i(e, t.slice(0, c));
			l.depth = n.depth + 1, n.children.push(l);
		}
		return l;
	};
	for (let n of e.operations) pt(i(n.process, n.path), n, t);
	r.forEach(mt);
	let a = (e, t) => e.process - t.process || Number(e.special) - Number(t.special) || t.wallTotal - e.wallTotal;
	for (let e of n.values()) e.children.sort(a);
	return r.sort(a);
}
function ft(e, t, n, r, i) {
	return {
		key: e,
		process: t,
		path: n,
		name: r,
		depth: 0,
		rows: [],
		children: [],
		special: i,
		wall: 0,
		wallTotal: 0,
		device: 0,
		deviceTotal: 0,
		host: 0,
		hostOnly: 0,
		hostOnlyTotal: 0,
		directions: /* @__PURE__ */ new Map(),
		ops: 0,
		launches: 0,
		dispatches: 0,
		compiles: 0,
		syncs: 0,
		callbacks: 0,
		evidence: /* @__PURE__ */ new Map()
	};
}
function pt(e, t, n) {
	let r = X(t.device.self, n);
	e.rows.push(t), e.wall += ct(t, n), e.device += r, e.host += X(t.host.self, n), e.hostOnly += X(t.wall.host_only, n), e.directions.set(t.direction, (e.directions.get(t.direction) ?? 0) + r), e.ops += t.device.ops, e.launches += t.device.launches, e.dispatches += t.host.dispatches, e.compiles += t.host.compiles, e.syncs += t.host.syncs, e.callbacks += t.host.callbacks;
	let i = X(t.device.self, !1);
	for (let [n, r] of Object.entries(t.evidence)) e.evidence.set(n, (e.evidence.get(n) ?? 0) + r * i);
}
function mt(e) {
	e.children.forEach(mt);
	let t = (t) => e.children.reduce((e, n) => e + t(n), 0);
	e.wallTotal = e.wall + t((e) => e.wallTotal), e.deviceTotal = e.device + t((e) => e.deviceTotal), e.hostOnlyTotal = e.hostOnly + t((e) => e.hostOnlyTotal);
}
function ht(e) {
	return e.flatMap((e) => [e, ...ht(e.children)]);
}
function gt(e, t, n) {
	let r = ht(dt(e, t)).filter((e) => e.wall > 0);
	r.sort((e, t) => Number(e.special) - Number(t.special) || t.wall - e.wall);
	let i = e.processes.length > 1, a = r.filter((e) => !e.special), o = a.length > n + 1 ? a.slice(0, n) : a, s = a.slice(o.length), c = (t) => ({
		label: i ? `${t.path} · ${_t(e, t.process)}` : t.path,
		process: t.process,
		path: t.path,
		operations: t.rows,
		wall: t.wall
	}), l = o.map(c);
	return s.length && l.push({
		label: `${s.length} more operations`,
		process: 0,
		path: null,
		operations: s.flatMap((e) => e.rows),
		wall: s.reduce((e, t) => e + t.wall, 0)
	}), [...l, ...r.filter((e) => e.special).map(c)];
}
function _t(e, t) {
	let n = e.processes[t]?.host ?? "";
	return e.processes.filter((e) => e.host === n).length > 1 ? `${n} #${t}` : n;
}
// src/source.ts
var Z = class extends Error {
	hint;
	constructor(e, t) {
		super(e), this.hint = t;
	}
};
function vt(e) {
	return "state" in e;
}
var yt = class {
	embedded = !1;
	recordings(e) {
		return bt("recordings", e ? { refresh: 1 } : {});
	}
	report(e, t) {
		return bt("report", {
			...e,
			...t ? { again: 1 } : {}
		});
	}
	ops(e, t, n, r) {
		return bt("ops", {
			...e,
			process: t,
			path: n,
			direction: r ?? ""
		});
	}
	timeline(e, t, n, r, i) {
		let a = r === null ? {} : { end: Math.ceil(r) };
		return bt("timeline", {
			...e,
			window: t,
			begin: Math.floor(n),
			...a,
			columns: i
		});
	}
	async find(e, t, n, r) {
		return (await bt("find", {
			...e,
			window: t,
			text: n,
			after: Math.floor(r)
		})).found;
	}
	async traceViewer(e) {
		try {
			if (!(await (await fetch("../../plugins_listing")).json()).profile?.enabled) return null;
			let t = e.run === "." ? e.name : `${e.run}/${e.name}`, n = new URLSearchParams({
				run: t,
				tag: "trace_viewer@"
			});
			return `${window.parent.location.pathname}?${n}#profile`;
		} catch {
			return null;
		}
	}
};
async function bt(e, t) {
	let n = new URLSearchParams(Object.entries(t).map(([e, t]) => [e, String(t)])), r;
	try {
		r = await fetch(`./${e}?${n}`);
	} catch {
		throw new Z("TensorBoard does not answer.", "Is it still running? Then reload this page.");
	}
	let i;
	try {
		i = await r.json();
	} catch {
		throw new Z(`TensorBoard answered with status ${r.status} and no data.`, "Its log says more.");
	}
	let a = i.error;
	if (r.ok && !a) return i;
	throw new Z(a?.message ?? `TensorBoard answered with status ${r.status}.`, a?.hint ?? "");
}
var xt = class {
	content;
	embedded = !0;
	constructor(e) {
		this.content = e;
	}
	async recordings() {
		let { session: e } = this.content.report;
		return {
			looking: !1,
			recordings: [{
				run: e.logdir,
				name: e.name,
				sessions: [e.name],
				files: e.files.length,
				bytes: e.files.reduce((e, t) => e + (t.bytes ?? 0), 0),
				changed: 0
			}],
			looked_in: [],
			unreadable: [],
			lost: [],
			truncated: !1
		};
	}
	async report() {
		return this.content.report;
	}
	async ops(e, t, n, r) {
		return this.content.ops[`${t}|${r ?? ""}|${n}`] ?? {
			ops: [],
			more: 0,
			more_self: 0
		};
	}
	async timeline(e, t) {
		let n = this.content.timelines[t];
		if (!n) throw new Z("This file holds no such timeline.", "");
		return n;
	}
	async find(e, t, n, r) {
		let i = await this.timeline(e, t), a = n.toLowerCase(), o = (e) => {
			let t = i.labels[e];
			return t ? t[1].toLowerCase().includes(a) || i.operations[t[0]][0].toLowerCase().includes(a) : !1;
		}, s = null;
		return i.lanes.forEach((e, t) => {
			e.label.forEach((n, i) => {
				if (!o(n)) return;
				let a = e.start[i], c = a <= r;
				s && (s.around === c ? s.start <= a : c) || (s = {
					lane: t,
					start: a,
					end: a + e.duration[i],
					around: c
				});
			});
		}), s;
	}
	async traceViewer() {
		return null;
	}
};
function St() {
	let e = document.getElementById("rlscope-data")?.textContent;
	return e ? new xt(JSON.parse(e)) : new yt();
}
// src/components/StackedBar.tsx
function Ct({ segments: e, scale: t, dark: n, label: r, interval: i }) {
	let a = e.reduce((e, t) => e + t.value, 0), o = e.map((e) => `${Re[e.key] ?? e.key} ${W(e.value)}`).join(", "), s = (e) => `${Math.min(100 * e / t, 100)}%`;
	return /* @__PURE__ */ V("div", {
		class: "stacked",
		role: "img",
		"aria-label": `${r}: ${o || "nothing"}`,
		children: [e.map((e) => /* @__PURE__ */ V("span", {
			class: ze.has(e.key) ? "pale" : "",
			style: {
				width: s(e.value),
				background: Ue(e.key, n)
			},
			title: `${r}\n${Re[e.key] ?? e.key}: ${W(e.value)} (${K(e.value, a)})`
		}, e.key)), i && /* @__PURE__ */ V("i", {
			class: "whisker",
			style: {
				left: s(i[0]),
				width: s(i[1] - i[0])
			},
			title: Ye(i)
		})]
	});
}
function wt({ keys: e, dark: t }) {
	return /* @__PURE__ */ V("ul", {
		class: "legend",
		children: e.map((e) => /* @__PURE__ */ V("li", { children: [/* @__PURE__ */ V("i", {
			class: ze.has(e) ? "pale" : "",
			style: { background: Ue(e, t) }
		}), Re[e] ?? e] }, e))
	});
}
// src/components/Details.tsx
var Tt = {
	mark: "named with operation()",
	annotation: "named by an annotation",
	scope: "a named scope",
	function: "a Python function",
	special: "no operation"
};
function Et({ page: e, report: t, asked: n, node: r, unit: i }) {
	let { corrected: a } = e.state, o = ot(r.rows, a);
	return /* @__PURE__ */ V("aside", {
		class: "details",
		"aria-label": `Details of ${r.path}`,
		children: [
			/* @__PURE__ */ V("div", {
				class: "heading",
				children: [/* @__PURE__ */ V("h2", {
					title: r.path,
					children: r.path
				}), /* @__PURE__ */ V("button", {
					type: "button",
					class: "close",
					"aria-label": "Close the details",
					onClick: () => e.change({ operation: null }),
					children: "×"
				})]
			}),
			/* @__PURE__ */ V("p", {
				class: "note",
				children: [
					[...new Set(r.rows.map((e) => Tt[e.kind] ?? e.kind))].join(", "),
					r.rows.length > 0 && " · ",
					W(r.wall),
					" of its own,",
					" ",
					K(r.wall, X(t.totals.wall, a)),
					" of the window"
				]
			}),
			r.wall > 0 && /* @__PURE__ */ V(y, { children: [/* @__PURE__ */ V(Ct, {
				segments: o,
				scale: r.wall,
				dark: e.dark,
				label: r.path
			}), /* @__PURE__ */ V(wt, {
				keys: o.map((e) => e.key),
				dark: e.dark
			})] }),
			/* @__PURE__ */ V(Dt, {
				rows: r.rows,
				corrected: a,
				unit: i
			}),
			/* @__PURE__ */ V(kt, {
				rows: r.rows,
				corrected: a
			}),
			/* @__PURE__ */ V(At, {
				page: e,
				asked: n,
				node: r
			})
		]
	});
}
function Dt({ rows: e, corrected: t, unit: n }) {
	return e.some((e) => e.direction) ? /* @__PURE__ */ V("table", {
		class: "plain",
		children: [/* @__PURE__ */ V("thead", { children: /* @__PURE__ */ V("tr", { children: [
			/* @__PURE__ */ V("th", {
				scope: "col",
				children: "direction"
			}),
			/* @__PURE__ */ V("th", {
				scope: "col",
				class: "number",
				children: ["device self ", n.name]
			}),
			/* @__PURE__ */ V("th", {
				scope: "col",
				class: "number",
				children: "ops"
			})
		] }) }), /* @__PURE__ */ V("tbody", { children: e.map((e) => /* @__PURE__ */ V("tr", { children: [
			/* @__PURE__ */ V("th", {
				scope: "row",
				children: e.direction ?? "none"
			}),
			/* @__PURE__ */ V("td", {
				class: "number",
				children: /* @__PURE__ */ V(Ot, {
					figure: e.device.self,
					corrected: t,
					unit: n
				})
			}),
			/* @__PURE__ */ V("td", {
				class: "number",
				children: q(e.device.ops)
			})
		] }, e.direction)) })]
	}) : null;
}
function Ot({ figure: e, corrected: t, unit: n }) {
	let r = Y(e, t);
	return /* @__PURE__ */ V("span", {
		title: r.interval ? Ye(r.interval) : void 0,
		children: G(r.value, n)
	});
}
function kt({ rows: e, corrected: t }) {
	let n = (n) => {
		let r = /* @__PURE__ */ new Map();
		for (let i of e) for (let [e, a] of Object.entries(n(i))) r.set(e, (r.get(e) ?? 0) + X(a, t));
		return [...r].filter(([, e]) => e > 0).sort((e, t) => t[1] - e[1]);
	}, r = (e) => e.map(([e, t]) => `${Re[e] ?? e.replace("_", " ")} ${W(t)}`).join(" · "), [i, a] = [n((e) => e.device.categories), n((e) => e.host.categories)];
	return /* @__PURE__ */ V("dl", {
		class: "categories",
		children: [i.length > 0 && /* @__PURE__ */ V(y, { children: [/* @__PURE__ */ V("dt", { children: "device" }), /* @__PURE__ */ V("dd", { children: r(i) })] }), a.length > 0 && /* @__PURE__ */ V(y, { children: [/* @__PURE__ */ V("dt", { children: "host threads" }), /* @__PURE__ */ V("dd", { children: r(a) })] })]
	});
}
function At({ page: e, asked: t, node: n }) {
	let [r, i] = L(null), a = n.rows.map((e) => e.direction);
	if (R(() => {
		let r = !1;
		return i(null), Promise.all(a.map((r) => e.source.ops(t, n.process, n.path, r))).then((e) => !r && i(Nt(e)), (e) => !r && i(e instanceof Z ? e : new Z(String(e), ""))), () => {
			r = !0;
		};
	}, [
		e.source,
		t,
		n.key
	]), r === null) return /* @__PURE__ */ V("p", {
		class: "note",
		children: "Looking up its device ops…"
	});
	if (r instanceof Z) return /* @__PURE__ */ V("p", {
		class: "note",
		children: r.message
	});
	if (!r.ops.length) return /* @__PURE__ */ V("p", {
		class: "note",
		children: "No device ops of its own."
	});
	let o = r.ops.reduce((e, t) => e + t.self, r.more_self);
	return /* @__PURE__ */ V(y, { children: [
		/* @__PURE__ */ V("h3", { children: "Device ops, as recorded" }),
		/* @__PURE__ */ V("table", {
			class: "plain ops",
			children: [/* @__PURE__ */ V("thead", { children: /* @__PURE__ */ V("tr", { children: [
				/* @__PURE__ */ V("th", {
					scope: "col",
					children: "op"
				}),
				/* @__PURE__ */ V("th", {
					scope: "col",
					class: "number",
					children: "self"
				}),
				/* @__PURE__ */ V("th", {
					scope: "col",
					class: "number",
					children: "runs"
				})
			] }) }), /* @__PURE__ */ V("tbody", { children: r.ops.map((e, t) => /* @__PURE__ */ V(jt, {
				op: e,
				whole: o
			}, t)) })]
		}),
		r.more > 0 && /* @__PURE__ */ V("p", {
			class: "note",
			children: [
				r.more,
				" more ops, ",
				W(r.more_self)
			]
		})
	] });
}
function jt({ op: e, whole: t }) {
	let n = e.source.findLast((e) => !/site-packages|dist-packages|lib\/python/.test(e.file)) ?? e.source.at(-1);
	return /* @__PURE__ */ V("tr", { children: [
		/* @__PURE__ */ V("td", { children: [
			/* @__PURE__ */ V("code", { children: e.name }),
			" ",
			e.opcode && e.opcode !== "fusion" && !e.name.startsWith(e.opcode) && /* @__PURE__ */ V("span", {
				class: "faint",
				children: e.opcode
			}),
			e.kernel && e.kernel !== e.name && /* @__PURE__ */ V("div", {
				class: "faint",
				children: e.kernel
			}),
			n && /* @__PURE__ */ V("div", {
				class: "source",
				title: e.source.map((e) => `${e.file}:${e.line} in ${e.function}`).join("\n"),
				children: [
					n.file.split("/").slice(-2).join("/"),
					":",
					n.line,
					" ",
					/* @__PURE__ */ V("span", {
						class: "faint",
						children: Mt(n.function)
					})
				]
			}),
			e.op_name && /* @__PURE__ */ V("div", {
				class: "faint opname",
				title: e.op_name,
				children: e.op_name
			})
		] }),
		/* @__PURE__ */ V("td", {
			class: "number",
			children: [W(e.self), /* @__PURE__ */ V("div", {
				class: "faint",
				children: K(e.self, t)
			})]
		}),
		/* @__PURE__ */ V("td", {
			class: "number",
			children: q(e.count)
		})
	] });
}
function Mt(e) {
	return e.split(".").at(-1) ?? e;
}
function Nt(e) {
	return {
		ops: e.flatMap((e) => e.ops).sort((e, t) => t.self - e.self).slice(0, 200),
		more: e.reduce((e, t) => e + t.more, 0),
		more_self: e.reduce((e, t) => e + t.more_self, 0)
	};
}
// src/views/Operations.tsx
var Pt = [
	{
		key: "wallTotal",
		title: "wall total",
		time: !0,
		read: (e) => e.wallTotal,
		help: "its part of the window, with all that is nested in it"
	},
	{
		key: "wall",
		title: "wall self",
		time: !0,
		read: (e) => e.wall,
		help: "its own part of the window"
	},
	{
		key: "deviceTotal",
		title: "device total",
		time: !0,
		read: (e) => e.deviceTotal,
		help: "device time summed over lines, with all that is nested in it"
	},
	{
		key: "device",
		title: "device self",
		time: !0,
		read: (e) => e.device,
		help: "device time of its own ops, summed over lines"
	},
	{
		key: "hostOnly",
		title: "host only",
		time: !0,
		read: (e) => e.hostOnly,
		help: "wall time in which the host worked and no device did"
	},
	{
		key: "ops",
		title: "ops",
		optional: !0,
		read: (e) => e.ops,
		help: "device ops that ran"
	},
	{
		key: "launches",
		title: "launches",
		optional: !0,
		read: (e) => e.launches,
		help: "kernels or graphs launched"
	},
	{
		key: "dispatches",
		title: "disp.",
		optional: !0,
		read: (e) => e.dispatches,
		help: "program executions asked for"
	},
	{
		key: "compiles",
		title: "comp.",
		optional: !0,
		read: (e) => e.compiles,
		help: "programs compiled"
	},
	{
		key: "callbacks",
		title: "calls",
		optional: !0,
		read: (e) => e.callbacks,
		help: "host callbacks made from compiled code"
	}
], Ft = {
	wall: ["wall time", (e) => e.wallTotal],
	device: ["device time", (e) => e.deviceTotal],
	host: ["host only", (e) => e.hostOnlyTotal]
}, It = 300, Lt = 12;
function Rt({ page: e, report: t, asked: n }) {
	let { state: r, change: i, dark: a } = e, o = B(() => dt(t, r.corrected), [t, r.corrected]), s = B(() => ht(o), [o]), c = B(() => new Ge(o.map((e) => e.path)), [o]), [l, u] = L("wall"), [d, f] = L(/* @__PURE__ */ new Set()), [p, m] = L(It), h = s.find((e) => e.key === r.operation) ?? null, g = Pt.filter((e) => !e.optional || s.some((t) => e.read(t) > 0)), _ = zt(o, r.sort, r.filter, d), v = Je(X(t.totals.wall, r.corrected)), y = (e) => i({ operation: e.key === r.operation ? null : e.key });
	return /* @__PURE__ */ V("div", {
		class: "operations",
		children: [/* @__PURE__ */ V("section", {
			"aria-labelledby": "icicle-title",
			children: [/* @__PURE__ */ V("div", {
				class: "heading",
				children: [
					/* @__PURE__ */ V("h2", {
						id: "icicle-title",
						children: "Operations"
					}),
					/* @__PURE__ */ V("div", {
						class: "switch",
						role: "group",
						"aria-label": "What the boxes show",
						children: Object.entries(Ft).map(([e, [t]]) => /* @__PURE__ */ V("button", {
							type: "button",
							"aria-pressed": l === e,
							onClick: () => u(e),
							children: t
						}, e))
					}),
					/* @__PURE__ */ V("input", {
						type: "search",
						placeholder: "Filter by name",
						"aria-label": "Filter operations by name",
						value: r.filter,
						onInput: (e) => i({ filter: e.currentTarget.value })
					})
				]
			}), /* @__PURE__ */ V(rt, {
				roots: o,
				read: Ft[l][1],
				colors: c,
				dark: a,
				chosen: r.operation,
				onChoose: y
			})]
		}), /* @__PURE__ */ V("div", {
			class: h ? "beside" : "",
			children: [/* @__PURE__ */ V(Bt, {
				report: t,
				nodes: _.slice(0, p),
				more: _.length - p,
				onMore: () => m(2 * p),
				columns: g,
				unit: v,
				page: e,
				colors: c,
				closed: d,
				onToggle: (e, t) => {
					let n = new Set(d);
					t ? n.delete(e.key) : n.add(e.key), f(n);
				},
				onChoose: y
			}), h && /* @__PURE__ */ V(Et, {
				page: e,
				report: t,
				asked: n,
				node: h,
				unit: v
			})]
		})]
	});
}
function zt(e, t, n, r) {
	let i = t === "name" ? null : (Pt.find((e) => e.key === t) ?? Pt[0]).read, a = n.trim().toLowerCase(), o = (e) => Pt.some((t) => t.read(e) > 0) || e.children.some(o), s = (e) => e.path.toLowerCase().includes(a) || e.children.some(s), c = (e) => Math.max(i(e), ...e.children.map(c)), l = (e, t) => e.process - t.process || Number(e.special) - Number(t.special) || (i ? c(t) - c(e) : e.name.localeCompare(t.name)), u = (e) => e.filter((e) => o(e) && (!a || s(e))).sort(l).flatMap((e) => [e, ...r.has(e.key) && !a ? [] : u([...e.children])]);
	return u([...e]);
}
function Bt({ report: e, nodes: t, more: n, onMore: r, columns: i, unit: a, page: o, colors: s, closed: c, onToggle: l, onChoose: u }) {
	let { state: d, change: f, dark: p } = o, m = X(e.totals.wall, d.corrected), h = e.processes.length > 1, g = z(null), _ = t.some((e) => e.key === d.operation) ? d.operation : t[0]?.key, v = (e, t) => {
		let n = {
			ArrowDown: 1,
			ArrowUp: -1
		}[e.key];
		if (n) {
			let t = [...g.current.querySelectorAll("tr")];
			t[t.indexOf(e.currentTarget) + n]?.focus();
		} else if (e.key === "ArrowRight") l(t, !0);
		else if (e.key === "ArrowLeft") l(t, !1);
		else if ((e.key === "Enter" || e.key === " ") && e.target === e.currentTarget) u(t);
		else return;
		e.preventDefault();
	}, y = (e, t, n, r = "number", i = !1) => /* @__PURE__ */ V("th", {
		scope: "col",
		class: r,
		"aria-sort": d.sort === e ? e === "name" ? "ascending" : "descending" : "none",
		children: [/* @__PURE__ */ V("button", {
			type: "button",
			title: n,
			onClick: () => f({ sort: e }),
			children: t
		}), i && /* @__PURE__ */ V("div", { children: a.name })]
	});
	return /* @__PURE__ */ V("div", {
		class: "scroll",
		children: [
			/* @__PURE__ */ V("table", {
				class: "tree",
				role: "treegrid",
				"aria-label": "Operations",
				children: [/* @__PURE__ */ V("thead", { children: /* @__PURE__ */ V("tr", { children: [
					y("name", "operation", "sort by name", "name"),
					i.map((e) => y(e.key, e.title, e.help, "number", e.time)),
					/* @__PURE__ */ V("th", {
						scope: "col",
						title: "device self time by direction of differentiation",
						children: "forward / backward"
					}),
					/* @__PURE__ */ V("th", {
						scope: "col",
						title: "why the device time was given to this operation",
						children: "evidence"
					})
				] }) }), /* @__PURE__ */ V("tbody", {
					ref: g,
					children: t.map((t) => /* @__PURE__ */ V("tr", {
						role: "row",
						tabIndex: t.key === _ ? 0 : -1,
						"aria-level": t.depth + 1,
						"aria-expanded": t.children.length ? !c.has(t.key) : void 0,
						"aria-selected": t.key === d.operation,
						"data-path": t.path,
						onKeyDown: (e) => v(e, t),
						onClick: () => u(t),
						children: [
							/* @__PURE__ */ V("th", {
								scope: "row",
								class: "name",
								children: /* @__PURE__ */ V("div", {
									style: { paddingLeft: `${Math.min(t.depth, Lt) * 16}px` },
									title: t.path,
									children: [
										t.children.length ? /* @__PURE__ */ V("button", {
											type: "button",
											class: "twist",
											tabIndex: -1,
											"aria-label": c.has(t.key) ? "Open" : "Close",
											onClick: (e) => {
												e.stopPropagation(), l(t, c.has(t.key));
											},
											children: c.has(t.key) ? "▸" : "▾"
										}) : /* @__PURE__ */ V("span", { class: "twist" }),
										/* @__PURE__ */ V("i", {
											class: "swatch",
											style: { background: s.of(t.path, null, p) }
										}),
										/* @__PURE__ */ V("span", {
											class: "text",
											children: t.name
										}),
										h && t.depth === 0 && /* @__PURE__ */ V("span", {
											class: "faint",
											children: [" · ", _t(e, t.process)]
										})
									]
								})
							}),
							i.map((e) => /* @__PURE__ */ V("td", {
								class: "number",
								"data-figure": e.key,
								"data-value": e.read(t),
								children: [e.key === "wallTotal" && /* @__PURE__ */ V("i", {
									class: "fill",
									style: { width: `${Math.min(100 * t.wallTotal / (m || 1), 100)}%` }
								}), e.time ? G(e.read(t), a) : q(e.read(t))]
							}, e.key)),
							/* @__PURE__ */ V("td", { children: /* @__PURE__ */ V(Ht, { node: t }) }),
							/* @__PURE__ */ V("td", { children: /* @__PURE__ */ V(Wt, { node: t }) })
						]
					}, t.key))
				})]
			}),
			n > 0 && /* @__PURE__ */ V("p", {
				class: "note",
				children: [
					n.toLocaleString("en"),
					" more rows. ",
					/* @__PURE__ */ V("button", {
						type: "button",
						class: "action",
						onClick: r,
						children: "Show more"
					})
				]
			}),
			!t.length && d.filter && /* @__PURE__ */ V("p", {
				class: "note",
				children: [
					"No operation has “",
					d.filter,
					"” in its name."
				]
			}),
			!t.length && !d.filter && /* @__PURE__ */ V("p", {
				class: "note",
				children: "Nothing ran within the window."
			})
		]
	});
}
var Vt = [
	"forward",
	"recompute",
	"backward"
];
function Ht({ node: e }) {
	let t = Vt.map((t) => [t, e.directions.get(t) ?? 0]), n = t.reduce((e, [, t]) => e + t, 0);
	if (!n) return null;
	let r = t.filter(([, e]) => e).map(([e, t]) => `${e} ${K(t, n)}`).join(", ");
	return /* @__PURE__ */ V("div", {
		class: "mini directions",
		role: "img",
		"aria-label": r,
		title: r,
		children: t.map(([e, t]) => /* @__PURE__ */ V("span", {
			class: e,
			style: { width: `${100 * t / n}%` }
		}, e))
	});
}
var Ut = [
	"mark",
	"annotation",
	"scope",
	"function",
	"split",
	"inherited",
	"host",
	"none"
];
function Wt({ node: e }) {
	let t = [...e.evidence.values()].reduce((e, t) => e + t, 0);
	if (!t) return null;
	let n = Ut.flatMap((t) => e.evidence.get(t) ? [[t, e.evidence.get(t)]] : []), r = n.map(([e, n]) => `${e} ${K(n, t)}`).join(", "), i = n.reduce((e, t) => t[1] > e[1] ? t : e);
	return /* @__PURE__ */ V("div", {
		class: "evidence",
		title: r,
		children: [/* @__PURE__ */ V("div", {
			class: "mini",
			role: "img",
			"aria-label": r,
			children: n.map(([e, n]) => /* @__PURE__ */ V("span", {
				class: `e-${e}`,
				style: { width: `${100 * n / t}%` }
			}, e))
		}), /* @__PURE__ */ V("span", {
			class: "faint",
			children: i[0]
		})]
	});
}
// src/views/Overhead.tsx
var Gt = {
	none: "Nothing was subtracted: these are the times as recorded.",
	calibrated: "What recording costs was measured on this machine by calibration, and subtracted.",
	anchored: "Unprofiled steps of this very run say how much slower the profiled ones were; that was subtracted."
};
function Kt({ report: e }) {
	let { overhead: t } = e, n = t.correction !== "none";
	return /* @__PURE__ */ V("div", {
		class: "overhead",
		children: [
			/* @__PURE__ */ V("section", {
				"aria-labelledby": "overhead-title",
				children: [
					/* @__PURE__ */ V("h2", {
						id: "overhead-title",
						children: "What profiling cost"
					}),
					/* @__PURE__ */ V("p", { children: Gt[t.correction] ?? t.correction }),
					!n && /* @__PURE__ */ V(y, { children: [
						/* @__PURE__ */ V("p", { children: qt(t.reason ?? "the report holds no correction") }),
						/* @__PURE__ */ V("p", {
							class: "note",
							children: "Recording costs a little for every op, so operations of many small ops look slower than they are. Two things make this page say by how much:"
						}),
						/* @__PURE__ */ V("ul", {
							class: "note",
							children: [/* @__PURE__ */ V("li", { children: [/* @__PURE__ */ V("code", { children: "rlscope-jax calibrate" }), " once on the machine that records: it measures what an op costs."] }), /* @__PURE__ */ V("li", { children: [
								"five or more steps before the window that nobody records, ",
								/* @__PURE__ */ V("code", { children: "Schedule(wait=5)" }),
								": they are timed, and the recorded steps compared with them."
							] })]
						})
					] }),
					n && /* @__PURE__ */ V("p", { children: [t.inflation !== null && /* @__PURE__ */ V(y, { children: [
						"The recorded work took ",
						/* @__PURE__ */ V("strong", { children: [t.inflation.toFixed(2), " ×"] }),
						" as long as without profiling. "
					] }), t.removed && /* @__PURE__ */ V(y, { children: [
						"Removed: ",
						/* @__PURE__ */ V("strong", { children: W(t.removed.ns) }),
						t.removed.interval && /* @__PURE__ */ V(y, { children: [
							" (",
							Ye(t.removed.interval),
							")"
						] }),
						"."
					] })] })
				]
			}),
			n && /* @__PURE__ */ V(Xt, {
				title: "Constants of this machine",
				values: t.constants
			}),
			t.anchors && /* @__PURE__ */ V(Xt, {
				title: "Unprofiled steps",
				values: t.anchors
			}),
			n && /* @__PURE__ */ V(en, { report: e })
		]
	});
}
function qt(e) {
	return `${e.charAt(0).toUpperCase()}${e.slice(1)}${/[.!?]$/.test(e) ? "" : "."}`;
}
var Jt = {
	tail_ratio: "what recording an op costs, over the time between its own end and its event's",
	op_floor: "the least an op takes when nobody records it",
	host_event: "an event of the runtime on the path of a call",
	annotation: "one operation or annotation on the host",
	step: "one step annotation",
	wait: "a wait for a program that another thread runs",
	python_call: "a Python call under the Python tracer; shown, not subtracted",
	steps: "unprofiled steps that were timed",
	base_ns: "their typical length",
	uncertainty_ns: "how sure that is",
	ratio: "the ratio at which the recorded steps become as long as these"
}, Yt = /* @__PURE__ */ new Set([
	"tail_ratio",
	"ratio",
	"steps"
]);
function Xt({ title: e, values: t }) {
	let n = Object.entries(t).filter(([, e]) => e !== null);
	return n.length ? /* @__PURE__ */ V("section", { children: [/* @__PURE__ */ V("h3", { children: e }), /* @__PURE__ */ V("table", {
		class: "plain narrow",
		children: [/* @__PURE__ */ V("thead", { children: /* @__PURE__ */ V("tr", { children: [
			/* @__PURE__ */ V("th", {
				scope: "col",
				children: "figure"
			}),
			/* @__PURE__ */ V("th", {
				scope: "col",
				class: "number",
				children: "value"
			}),
			/* @__PURE__ */ V("th", {
				scope: "col",
				class: "number",
				children: "interval"
			}),
			/* @__PURE__ */ V("th", {
				scope: "col",
				children: "what it is"
			})
		] }) }), /* @__PURE__ */ V("tbody", { children: n.map(([e, t]) => /* @__PURE__ */ V("tr", { children: [
			/* @__PURE__ */ V("th", {
				scope: "row",
				children: e.replace(/_ns$/, "").replaceAll("_", " ")
			}),
			/* @__PURE__ */ V("td", {
				class: "number",
				children: $t(e, Zt(t) ? t.value : t)
			}),
			/* @__PURE__ */ V("td", {
				class: "number",
				children: Zt(t) ? Qt(e, t) : "–"
			}),
			/* @__PURE__ */ V("td", {
				class: "faint",
				children: Jt[e]
			})
		] }, e)) })]
	})] }) : null;
}
function Zt(e) {
	return typeof e == "object" && !!e && "value" in e && "low" in e && "high" in e;
}
function Qt(e, { low: t, high: n }) {
	return Yt.has(e) ? `${$t(e, t)} to ${$t(e, n)}` : Ye([t, n]);
}
function $t(e, t) {
	return typeof t == "number" ? Yt.has(e) ? Number.isInteger(t) ? t.toLocaleString("en") : t.toFixed(2) : W(t) : typeof t == "string" ? t : JSON.stringify(t);
}
function en({ report: e }) {
	let t = new Map(ht(dt(e, !1)).map((e) => [e.key, e])), n = ht(dt(e, !0)).map((e) => ({
		node: e,
		before: t.get(e.key)?.wall ?? 0,
		after: e.wall
	})).filter((e) => e.before !== e.after).sort((e, t) => t.before - t.after - (e.before - e.after)), r = Math.max(1, ...n.map((e) => e.before)), i = Je(r);
	return /* @__PURE__ */ V("section", { children: [
		/* @__PURE__ */ V("h3", { children: "Removed from each operation" }),
		/* @__PURE__ */ V("table", {
			class: "plain",
			children: [/* @__PURE__ */ V("thead", { children: /* @__PURE__ */ V("tr", { children: [
				/* @__PURE__ */ V("th", {
					scope: "col",
					children: "operation"
				}),
				/* @__PURE__ */ V("th", {
					scope: "col",
					class: "number",
					children: ["recorded ", i.name]
				}),
				/* @__PURE__ */ V("th", {
					scope: "col",
					class: "number",
					children: ["corrected ", i.name]
				}),
				/* @__PURE__ */ V("th", {
					scope: "col",
					class: "number",
					children: ["removed ", i.name]
				}),
				/* @__PURE__ */ V("th", {
					scope: "col",
					class: "number",
					children: "share"
				}),
				/* @__PURE__ */ V("th", {
					scope: "col",
					class: "wide",
					children: [
						/* @__PURE__ */ V("i", { class: "swatch kept" }),
						" corrected ",
						/* @__PURE__ */ V("i", { class: "swatch removed" }),
						" removed"
					]
				})
			] }) }), /* @__PURE__ */ V("tbody", { children: n.map(({ node: e, before: t, after: n }) => /* @__PURE__ */ V("tr", { children: [
				/* @__PURE__ */ V("th", {
					scope: "row",
					children: e.path
				}),
				/* @__PURE__ */ V("td", {
					class: "number",
					children: G(t, i)
				}),
				/* @__PURE__ */ V("td", {
					class: "number",
					children: G(n, i)
				}),
				/* @__PURE__ */ V("td", {
					class: "number",
					children: G(t - n, i)
				}),
				/* @__PURE__ */ V("td", {
					class: "number",
					children: K(t - n, t)
				}),
				/* @__PURE__ */ V("td", {
					class: "wide",
					children: /* @__PURE__ */ V("div", {
						class: "stacked",
						"aria-hidden": "true",
						children: [/* @__PURE__ */ V("span", {
							class: "kept",
							style: { width: `${100 * n / r}%` }
						}), /* @__PURE__ */ V("span", {
							class: "removed",
							style: { width: `${100 * Math.max(t - n, 0) / r}%` }
						})]
					})
				})
			] }, e.key)) })]
		}),
		!n.length && /* @__PURE__ */ V("p", {
			class: "note",
			children: "Nothing."
		})
	] });
}
// src/views/Overview.tsx
var tn = 14;
function nn({ page: e, report: t }) {
	let { corrected: n } = e.state;
	return /* @__PURE__ */ V("div", {
		class: "overview",
		children: [
			/* @__PURE__ */ V(rn, { report: t }),
			/* @__PURE__ */ V(an, {
				report: t,
				corrected: n
			}),
			/* @__PURE__ */ V(on, {
				report: t,
				corrected: n
			}),
			/* @__PURE__ */ V(ln, {
				page: e,
				report: t
			}),
			/* @__PURE__ */ V(fn, {
				page: e,
				report: t
			}),
			/* @__PURE__ */ V(hn, { report: t })
		]
	});
}
function rn({ report: e }) {
	let { verdict: t, problems: n } = e.health;
	return n.length ? /* @__PURE__ */ V("section", {
		class: `health ${t}`,
		"aria-label": "Health of the capture",
		children: n.map((e) => /* @__PURE__ */ V("div", { children: [/* @__PURE__ */ V("strong", { children: [
			t === "ok" ? "note" : t,
			": ",
			e.message
		] }), /* @__PURE__ */ V("p", { children: [
			e.hint,
			" ",
			/* @__PURE__ */ V("code", { children: e.code })
		] })] }, e.code))
	}) : /* @__PURE__ */ V("p", {
		class: "sound",
		children: [/* @__PURE__ */ V("b", { children: "Capture ok:" }), " nothing is missing that these figures would need."]
	});
}
function an({ report: e, corrected: t }) {
	let { totals: n } = e, r = Y(n.wall, t).value, i = (e) => K(Y(n[e], t).value, r), [a, o] = gt(e, t, 2).filter((e) => e.path && !e.path.startsWith("("));
	return !r || !a ? null : /* @__PURE__ */ V("p", {
		class: "summary",
		children: [
			"The heaviest operation is ",
			/* @__PURE__ */ V("strong", { children: $e(a.label, 60) }),
			" (",
			K(a.wall, r),
			")",
			o && /* @__PURE__ */ V(y, { children: [
				", then ",
				/* @__PURE__ */ V("strong", { children: $e(o.label, 60) }),
				" (",
				K(o.wall, r),
				")"
			] }),
			". A device was busy for ",
			i("device_busy"),
			" of the time; for ",
			i("host_only"),
			" only the host worked, and for ",
			i("idle"),
			" nothing did."
		]
	});
}
function on({ report: e, corrected: t }) {
	let { totals: n, window: r, steps: i, overhead: a } = e, o = Y(n.wall, t), s = (e) => {
		let r = Y(n[e], t);
		return /* @__PURE__ */ V(cn, {
			title: sn[e][0],
			help: sn[e][1],
			id: e,
			main: K(r.value, o.value),
			chosen: r
		});
	}, c = i.wall && Y(i.wall.median, t), l = a.removed;
	return /* @__PURE__ */ V("section", {
		class: "tiles",
		"aria-label": "Headline figures",
		children: [
			/* @__PURE__ */ V(cn, {
				title: (r.windows ?? 1) > 1 ? `${r.windows} windows` : "window",
				id: "wall",
				main: W(o.value),
				chosen: o,
				detail: c ? `${Qe(r.steps, "step")} of ${W(c.value)}` : "no steps marked"
			}),
			s("device_busy"),
			s("host_only"),
			s("overlap"),
			s("idle"),
			/* @__PURE__ */ V(cn, {
				title: "inflation",
				id: "inflation",
				main: a.inflation === null ? "not measured" : `${a.inflation.toFixed(2)} ×`,
				detail: a.inflation === null ? "figures are as recorded" : l && at(e) ? `${W(l.ns)} of overhead found` : "profiled ÷ unprofiled"
			})
		]
	});
}
var sn = {
	device_busy: ["device busy", "at least one ran an op"],
	host_only: ["host-bound", "devices waited for the host"],
	overlap: ["device and host", "part of “device busy”"],
	idle: ["idle", "nothing worked"]
};
function cn(e) {
	let { title: t, help: n, id: r, main: i, chosen: a, detail: o } = e, s = a?.interval;
	return /* @__PURE__ */ V("div", {
		class: "tile",
		"data-figure": r,
		"data-ns": a?.value ?? void 0,
		children: [
			/* @__PURE__ */ V("span", {
				class: "title",
				children: t
			}),
			/* @__PURE__ */ V("span", {
				class: "main",
				children: i
			}),
			/* @__PURE__ */ V("span", {
				class: "detail",
				children: o ?? (a && W(a.value))
			}),
			s && /* @__PURE__ */ V("span", {
				class: "detail",
				children: Ye(s)
			}),
			n && /* @__PURE__ */ V("span", {
				class: "detail",
				children: n
			})
		]
	});
}
function ln({ page: e, report: t }) {
	let { corrected: n } = e.state, r = gt(t, n, tn).map((e) => ({
		...e,
		cells: ot(e.operations, n),
		interval: lt(e.operations, n)
	})), i = Math.max(1, ...r.map((e) => Math.max(e.wall, e.interval?.[1] ?? 0))), a = r.reduce((e, t) => e + t.wall, 0), o = Be(r.flatMap((e) => e.cells.map((e) => e.key)));
	return /* @__PURE__ */ V("section", {
		"aria-labelledby": "bars-title",
		children: [
			/* @__PURE__ */ V("h2", {
				id: "bars-title",
				children: "Where the time went"
			}),
			/* @__PURE__ */ V("p", {
				class: "note",
				children: "Each instant belongs to one operation, so the bars sum to the window. An operation's bar is its own time, without the operations nested in it."
			}),
			!r.length && /* @__PURE__ */ V("p", { children: "Nothing was recorded." }),
			/* @__PURE__ */ V(wt, {
				keys: o,
				dark: e.dark
			}),
			/* @__PURE__ */ V("table", {
				class: "bars",
				children: [/* @__PURE__ */ V("thead", {
					class: "hidden",
					children: /* @__PURE__ */ V("tr", { children: [
						/* @__PURE__ */ V("th", {
							scope: "col",
							children: "operation"
						}),
						/* @__PURE__ */ V("th", {
							scope: "col",
							children: "resources"
						}),
						/* @__PURE__ */ V("th", {
							scope: "col",
							children: "time"
						}),
						/* @__PURE__ */ V("th", {
							scope: "col",
							children: "share"
						})
					] })
				}), /* @__PURE__ */ V("tbody", { children: r.map((t) => /* @__PURE__ */ V("tr", {
					"data-path": t.path ?? void 0,
					"data-ns": t.wall,
					children: [
						/* @__PURE__ */ V("th", {
							scope: "row",
							children: t.path === null ? t.label : /* @__PURE__ */ V("button", {
								type: "button",
								class: "link",
								title: t.label,
								onClick: () => e.change({
									view: "operations",
									operation: ut(t.process, t.path)
								}),
								children: /* @__PURE__ */ V(un, { path: t.label })
							})
						}),
						/* @__PURE__ */ V("td", {
							class: "wide",
							children: /* @__PURE__ */ V(Ct, {
								segments: t.cells,
								scale: i,
								dark: e.dark,
								label: t.label,
								interval: t.interval
							})
						}),
						/* @__PURE__ */ V("td", {
							class: "number",
							children: W(t.wall)
						}),
						/* @__PURE__ */ V("td", {
							class: "number",
							children: K(t.wall, a)
						})
					]
				}, `${t.process}|${t.label}`)) })]
			})
		]
	});
}
function un({ path: e }) {
	let t = $e(e, Math.max(28, Math.min(80, Math.floor(window.innerWidth / 32)))), n = e.startsWith("(") ? -1 : t.lastIndexOf("/");
	return /* @__PURE__ */ V(y, { children: [n >= 0 && /* @__PURE__ */ V("span", {
		class: "faint",
		children: t.slice(0, n + 1)
	}), t.slice(n + 1)] });
}
var dn = 5;
function fn({ page: e, report: t }) {
	let { findings: n } = t;
	if (!n.length) return null;
	let r = (n) => /* @__PURE__ */ V("ol", {
		class: "findings",
		children: n.map((n, r) => /* @__PURE__ */ V(pn, {
			page: e,
			report: t,
			finding: n
		}, r))
	}), i = n.slice(dn);
	return /* @__PURE__ */ V("section", {
		"aria-labelledby": "findings-title",
		children: [
			/* @__PURE__ */ V("h2", {
				id: "findings-title",
				children: "What to do next"
			}),
			r(n.slice(0, dn)),
			i.length > 0 && /* @__PURE__ */ V("details", {
				class: "more",
				children: [/* @__PURE__ */ V("summary", { children: [i.length, " more"] }), r(i)]
			}),
			/* @__PURE__ */ V("p", {
				class: "note",
				children: ["More on each: ", /* @__PURE__ */ V("code", { children: ["rlscope-jax report --explain ", n[0].code] })]
			})
		]
	});
}
function pn({ page: e, report: t, finding: n }) {
	let r = t.operations.find((e) => e.path === n.operation), i = Object.entries(n.evidence ?? {}).filter(([, e]) => e !== null && e !== !1);
	return /* @__PURE__ */ V("li", {
		class: n.severity,
		children: [/* @__PURE__ */ V("span", {
			class: "badge",
			children: n.severity
		}), /* @__PURE__ */ V("div", { children: [
			/* @__PURE__ */ V("strong", { children: n.message }),
			n.hint && /* @__PURE__ */ V("p", {
				class: "hint",
				children: n.hint
			}),
			/* @__PURE__ */ V("p", {
				class: "facts",
				children: [
					/* @__PURE__ */ V("code", { children: n.code }),
					n.gain_ns ? /* @__PURE__ */ V("span", { children: [
						"at most ",
						W(n.gain_ns),
						" to gain"
					] }) : null,
					r && /* @__PURE__ */ V("button", {
						type: "button",
						class: "link accent",
						onClick: () => e.change({
							view: "operations",
							operation: ut(r.process, r.path)
						}),
						children: r.path
					}),
					n.program && /* @__PURE__ */ V("span", { children: n.program }),
					i.map(([e, t]) => /* @__PURE__ */ V("span", { children: [
						e.replace(/_ns$/, "").replaceAll("_", " "),
						": ",
						mn(e, t)
					] }, e))
				]
			})
		] })]
	});
}
function mn(e, t) {
	return typeof t == "number" ? e.endsWith("_ns") ? W(t) : e === "bytes" || e.endsWith("_bytes") ? Xe(t) : Number.isInteger(t) ? t.toLocaleString("en") : t.toPrecision(3) : t === !0 ? "yes" : typeof t == "string" ? t : JSON.stringify(t);
}
function hn({ report: e }) {
	let { environment: t, session: n, counts: r, window: i } = e, a = (e, t) => {
		let n = r[e];
		return n == null ? "" : ` · ${Qe(n, t)}`;
	};
	return /* @__PURE__ */ V("p", {
		class: "note about",
		children: [
			n.logdir,
			" · ",
			n.name,
			(i.windows ?? 1) > 1 && ` · ${i.windows} windows`,
			" · ",
			"jax ",
			t.jax ?? "unknown",
			" on ",
			t.platform ?? "an unknown platform",
			a("device_ops", "device op"),
			a("dispatches", "dispatch"),
			a("compiles", "compile")
		]
	});
}
// src/views/Programs.tsx
function gn({ page: e, report: t, asked: n }) {
	let { corrected: r } = e.state, i = (e) => X(e.device, r), a = (e) => X(e.compile, r), o = [...t.programs].sort((e, t) => i(t) + a(t) - i(e) - a(e)), s = Je(Math.max(0, ...o.map((e) => Math.max(i(e), a(e))))), c = o.reduce((e, t) => e + i(t), 0), l = o.some((e) => e.compiles), u = _n(e.source, n, l ? t.window.windows ?? 1 : 0), d = (t.window.windows ?? 1) > 1, f = bn(o.map((e) => e.function ?? e.name)), p = yn(o, r);
	return /* @__PURE__ */ V("section", {
		"aria-labelledby": "programs-title",
		children: [
			/* @__PURE__ */ V("h2", {
				id: "programs-title",
				children: "Programs"
			}),
			/* @__PURE__ */ V("p", {
				class: "note",
				children: "A program is a function as XLA compiled it for one set of shapes, types and static arguments: a function called with several has several programs. Compiles are those within the window."
			}),
			p.length > 0 && /* @__PURE__ */ V("div", {
				class: "health degraded",
				role: "note",
				children: p.slice(0, 5).map(({ name: e, times: t, time: n }) => /* @__PURE__ */ V("div", { children: /* @__PURE__ */ V("strong", { children: [
					e,
					" was compiled ",
					t,
					" times within the window: ",
					W(n),
					"."
				] }) }, e))
			}),
			/* @__PURE__ */ V("div", {
				class: "scroll",
				children: /* @__PURE__ */ V("table", {
					class: "plain programs",
					children: [/* @__PURE__ */ V("thead", { children: /* @__PURE__ */ V("tr", { children: [
						/* @__PURE__ */ V("th", {
							scope: "col",
							children: "function"
						}),
						/* @__PURE__ */ V("th", {
							scope: "col",
							children: "program"
						}),
						/* @__PURE__ */ V("th", {
							scope: "col",
							class: "number",
							children: "compiles"
						}),
						/* @__PURE__ */ V("th", {
							scope: "col",
							class: "number",
							children: ["compile ", s.name]
						}),
						l && /* @__PURE__ */ V("th", {
							scope: "col",
							class: "number",
							children: "first at"
						}),
						/* @__PURE__ */ V("th", {
							scope: "col",
							class: "number",
							children: "dispatches"
						}),
						/* @__PURE__ */ V("th", {
							scope: "col",
							class: "number",
							children: "runs"
						}),
						/* @__PURE__ */ V("th", {
							scope: "col",
							class: "number",
							children: ["device ", s.name]
						}),
						/* @__PURE__ */ V("th", {
							scope: "col",
							class: "number",
							children: "share"
						}),
						/* @__PURE__ */ V("th", {
							scope: "col",
							class: "number",
							children: "per run"
						}),
						/* @__PURE__ */ V("th", {
							scope: "col",
							class: "number",
							children: "device ops"
						}),
						/* @__PURE__ */ V("th", {
							scope: "col",
							children: "HLO"
						})
					] }) }), /* @__PURE__ */ V("tbody", { children: o.map((t) => {
						let n = t.function ?? t.name, r = p.some((e) => e.name === n), o = f.get(n) ?? 1;
						return /* @__PURE__ */ V("tr", {
							class: r ? "warn" : "",
							"data-program": t.program_id,
							children: [
								/* @__PURE__ */ V("th", {
									scope: "row",
									children: [n, r ? /* @__PURE__ */ V("span", {
										class: "badge",
										children: "recompiled"
									}) : o > 1 && /* @__PURE__ */ V("span", {
										class: "faint",
										children: [" · one of ", o]
									})]
								}),
								/* @__PURE__ */ V("td", { children: /* @__PURE__ */ V("span", {
									class: "faint",
									children: [
										t.name,
										" #",
										t.program_id
									]
								}) }),
								/* @__PURE__ */ V("td", {
									class: "number",
									children: q(t.compiles)
								}),
								/* @__PURE__ */ V("td", {
									class: "number",
									children: G(a(t), s)
								}),
								l && /* @__PURE__ */ V("td", {
									class: "number",
									children: /* @__PURE__ */ V(vn, {
										compile: u.get(t.program_id),
										several: d,
										page: e
									})
								}),
								/* @__PURE__ */ V("td", {
									class: "number",
									children: q(t.dispatches)
								}),
								/* @__PURE__ */ V("td", {
									class: "number",
									children: q(t.runs)
								}),
								/* @__PURE__ */ V("td", {
									class: "number",
									"data-figure": "device",
									"data-value": i(t),
									children: G(i(t), s)
								}),
								/* @__PURE__ */ V("td", {
									class: "number",
									children: K(i(t), c)
								}),
								/* @__PURE__ */ V("td", {
									class: "number",
									children: t.runs ? W(i(t) / t.runs) : "–"
								}),
								/* @__PURE__ */ V("td", {
									class: "number",
									children: q(t.device_ops)
								}),
								/* @__PURE__ */ V("td", { children: t.hlo ? "yes" : "not recorded" })
							]
						}, `${t.program_id}|${t.name}`);
					}) })]
				})
			}),
			!o.length && /* @__PURE__ */ V("p", {
				class: "note",
				children: "No program ran within the window."
			})
		]
	});
}
function _n(e, t, n) {
	let [r, i] = L(/* @__PURE__ */ new Map());
	return R(() => {
		let r = !1, a = (n) => e.timeline(t, n, 0, null, 1);
		return Promise.all(Array.from({ length: n }, (e, t) => a(t))).then((e) => {
			let t = /* @__PURE__ */ new Map();
			for (let { window: n, compiles: r } of e) for (let [e, i, a] of r) {
				let r = t.get(e);
				(!r || r.window === n && i < r.start) && t.set(e, {
					window: n,
					start: i,
					length: a
				});
			}
			r || i(t);
		}, () => {}), () => {
			r = !0;
		};
	}, [
		e,
		t,
		n
	]), r;
}
function vn({ compile: e, several: t, page: n }) {
	if (!e) return /* @__PURE__ */ V(y, { children: "·" });
	let { window: r, start: i, length: a } = e;
	return /* @__PURE__ */ V("button", {
		type: "button",
		class: "link accent",
		title: "Show it in the timeline",
		onClick: () => n.change({
			view: "timeline",
			window: r,
			begin: i - .2 * a,
			end: i + 1.2 * a
		}),
		children: [W(i), t && ` of window ${r + 1}`]
	});
}
function yn(e, t) {
	let n = /* @__PURE__ */ new Map();
	for (let r of e) {
		let e = r.function ?? r.name, i = n.get(e) ?? {
			name: e,
			times: 0,
			time: 0
		};
		i.times += r.compiles ?? 0, i.time += X(r.compile, t), n.set(e, i);
	}
	return [...n.values()].filter((e) => e.times > 1).sort((e, t) => t.time - e.time);
}
function bn(e) {
	let t = /* @__PURE__ */ new Map();
	for (let n of e) t.set(n, (t.get(n) ?? 0) + 1);
	return t;
}
var xn = {
	host: 34,
	device: 30
}, Sn = 6, Cn = 360, wn = 30;
function Tn(e, t) {
	let n = t.map((t) => xn[e.lanes[t].side]), r = n.reduce((e, t) => e + t + Sn, 0), i = Math.max(0, Math.min(wn, Math.floor((Cn - r) / t.length))), a = n.map((e) => e + i), o = 26 + (e.steps.length ? 20 : 0);
	return {
		tops: a.map((e) => (o += e + Sn, o - e - Sn)),
		heights: a,
		height: o
	};
}
function En(e, t, n) {
	let r = t.key[n];
	if (t.side === "host") return Ue(e.data.categories[r] ?? "", e.look.dark);
	let [i, a] = e.data.operations[r];
	return e.colors.of(i, a, e.look.dark);
}
function Dn(e, t, n, r) {
	let { data: i, stretch: a, look: o } = r, s = t / (a.end - a.begin);
	e.clearRect(0, 0, t, n), e.font = "12px system-ui, sans-serif", e.textBaseline = "middle", On(e, t, n, a, o), jn(e, t, r, s);
	let { tops: c, heights: l } = Tn(i, r.lanes);
	r.lanes.forEach((n, i) => Mn(e, t, r, n, c[i], l[i], s));
}
function On(e, t, n, r, i) {
	let a = r.end - r.begin, o = An(a * 110 / t);
	e.fillStyle = i.faint, e.strokeStyle = i.line, e.lineWidth = 1, e.beginPath();
	for (let i = Math.ceil(r.begin / o) * o; i <= r.end; i += o) {
		let s = Math.round((i - r.begin) / a * t) + .5;
		e.moveTo(s, 20), e.lineTo(s, n), e.fillText(kn(i, o), s + 4, 13);
	}
	e.stroke();
}
function kn(e, t) {
	if (e === 0) return "0";
	let [n, r] = e >= 1e9 ? [1e9, "s"] : e >= 1e6 ? [1e6, "ms"] : [1e3, "µs"], i = Math.max(0, Math.min(6, Math.ceil(-Math.log10(t / n) - 1e-9)));
	return `${(e / n).toFixed(i)} ${r}`;
}
function An(e) {
	let t = 10 ** Math.floor(Math.log10(Math.max(e, .001)));
	return [
		1,
		2,
		5,
		10
	].map((e) => e * t).find((t) => t >= e * .999);
}
function jn(e, t, n, r) {
	let { data: i, stretch: a, look: o } = n;
	for (let [n, s, c] of i.steps) {
		let i = (s - a.begin) * r, l = c * r;
		i > t || i + l < 0 || (e.fillStyle = n % 2 ? o.line : o.panel, e.fillRect(i, 26, Math.max(l - 1, 1), 16), l > 46 && (e.fillStyle = o.text, e.fillText(`step ${n}`, Math.max(i, 0) + 5, 34)));
	}
}
function Mn(e, t, n, r, i, a, o) {
	let { data: s, stretch: c, matches: l, cursor: u, look: d } = n, f = s.lanes[r], p = Pn(f, c.begin);
	e.save(), e.beginPath(), e.rect(0, i, t, a), e.clip();
	for (let r = p; r < f.start.length; r++) {
		let s = (f.start[r] - c.begin) * o;
		if (s > t) {
			if (f.count[r] === 1) break;
			continue;
		}
		let u = Math.max(f.duration[r] * o, .6);
		if (s + u < 0) continue;
		let d = f.count[r] > 1 ? Math.max(a * f.cover[r], 3) : a;
		e.globalAlpha = l && !l(f, r) ? .15 : 1, e.fillStyle = En(n, f, r), e.fillRect(s, i + a - d, u > 4 ? u - .6 : u, d), u > 40 && f.label[r] >= 0 && (e.fillStyle = Ke(En(n, f, r)), Nn(e, n, f, r, Math.max(s, 0) + 4, i + a / 2, Math.min(s + u, t) - Math.max(s, 0) - 8));
	}
	if (e.restore(), u && u.lane === r) {
		let t = (f.start[u.place] - c.begin) * o;
		e.strokeStyle = d.accent, e.lineWidth = 2, e.strokeRect(t - 1, i - 1, Math.max(f.duration[u.place] * o, 2) + 2, a + 2);
	}
}
function Nn(e, t, n, r, i, a, o) {
	let [s, c] = t.data.labels[n.label[r]] ?? [-1, ""], l = t.data.operations[s]?.[0] ?? "", u = n.side === "host" ? t.data.categories[n.key[r]] ?? "" : "", d = n.side === "host" ? l.startsWith("(") ? u : l : c || l, f = d.slice(0, Math.ceil(o / 2));
	for (; f && e.measureText(f).width > o;) f = f.slice(0, -1);
	f.length < d.length && (f = f.length > 3 ? `${f.slice(0, -1)}…` : ""), f && e.fillText(f, i, a);
}
function Pn(e, t) {
	if (e.count.length && e.count[0] > 1) return 0;
	let [n, r] = [0, e.start.length];
	for (; n < r;) {
		let i = n + r >> 1;
		e.start[i] + e.duration[i] < t ? n = i + 1 : r = i;
	}
	return n;
}
function Fn(e, t, n, r, i) {
	let { tops: a, heights: o } = Tn(e, t), s = a.findIndex((e, t) => r >= e && r <= e + o[t]);
	if (s < 0) return null;
	let c = t[s], l = e.lanes[c];
	for (let e = l.start.length - 1; e >= 0; e--) {
		let t = l.start[e];
		if (n >= t - i && n <= t + l.duration[e] + i) return {
			lane: c,
			place: e
		};
	}
	return null;
}
function In(e, t, n) {
	let r = e.categories[t.key[n]] ?? "", [i, a] = [t.start[n], t.duration[n]], o = `${W(a)}, from ${W(i)} on`;
	if (t.count[n] > 1) {
		let i = t.side === "host" ? r : e.operations[t.key[n]]?.[0] ?? "";
		return [`${t.count[n].toLocaleString("en")} pieces, mostly ${i}`, `${Math.round(100 * t.cover[n])} % of ${o}. Zoom in to see each.`];
	}
	let [s, c] = e.labels[t.label[n]] ?? [-1, ""], [l, u] = e.operations[s] ?? ["", null];
	return [
		`${l}${u ? ` (${u})` : ""}`,
		...c ? [c] : [],
		t.side === "host" ? `${r}, ${o}` : o
	];
}
// src/timeline/stretch.ts
var Ln = 100;
function Rn(e, t) {
	let n = Math.min(Math.max(e.end - e.begin, Math.min(Ln, t)), t), r = Math.min(Math.max(e.begin, 0), t - n);
	return {
		begin: r,
		end: r + n
	};
}
function Q(e, t, n) {
	let r = e.end - e.begin, i = e.begin + n * r;
	return {
		begin: i - n * r * t,
		end: i + (1 - n) * r * t
	};
}
function zn(e, t) {
	let n = t * (e.end - e.begin);
	return {
		begin: e.begin + n,
		end: e.end + n
	};
}
// src/views/Timeline.tsx
var Bn = 90, Vn = 2400, Hn = 150, Un = 200;
function Wn({ page: e, report: t, asked: n }) {
	let { source: r, state: i, change: a, dark: o } = e, [s, c] = L(null), [l, u] = L(0), [d, f] = L(""), [p, m] = L(""), h = z(null), g = (t.window.windows ?? 1) - 1, _ = Math.min(i.window, g), v = s && !(s instanceof Z) && s.window === _ ? s : null, y = v ? v.wall : t.window.wall_ns, b = z([]);
	v && (b.current = v.windows);
	let x = B(() => Rn({
		begin: i.begin ?? 0,
		end: i.end ?? y
	}, y), [
		i.begin,
		i.end,
		y
	]), S = B(() => new Ge(dt(t, !1).map((e) => e.path)), [t]), C = Ce((e) => {
		let { begin: t, end: n } = Rn(e, y), r = t <= 0 && n >= y;
		a({
			begin: r ? null : t,
			end: r ? null : n
		});
	}, [a, y]);
	Se(() => {
		let e = new ResizeObserver(([e]) => u(Math.max(Math.floor(e.contentRect.width) - Hn, 0)));
		return h.current && e.observe(h.current), () => e.disconnect();
	}, []), R(() => {
		if (!l) return;
		let e = !1, t = () => r.timeline(n, _, x.begin, v ? x.end : i.end, Math.min(l, Vn)).then((t) => !e && c(t), (t) => !e && c(t instanceof Z ? t : new Z(String(t), ""))), a = window.setTimeout(() => void t(), v ? Bn : 0);
		return () => {
			e = !0, window.clearTimeout(a);
		};
	}, [
		r,
		n,
		t,
		_,
		i.begin,
		i.end,
		l
	]);
	let w = async () => {
		let e = d.trim();
		if (!e) return;
		let t = `Nothing ${g > 0 ? "in this window" : "here"} has “${e}” in its name.`, i = await r.find(n, _, e, (x.begin + x.end) / 2).catch((e) => {
			m(e instanceof Z ? e.message : String(e));
		});
		if (i === null && m(t), !i) return;
		m(`Found at ${W(i.start)}.`);
		let a = Math.min(x.end - x.begin, Math.max((i.end - i.start) * 20, y / 1e5)), o = (i.start + i.end) / 2;
		C({
			begin: o - a / 2,
			end: o + a / 2
		});
	};
	return /* @__PURE__ */ V("section", {
		class: "timeline",
		"aria-labelledby": "timeline-title",
		children: [
			/* @__PURE__ */ V("div", {
				class: "heading",
				children: [
					/* @__PURE__ */ V("h2", {
						id: "timeline-title",
						children: "Timeline"
					}),
					/* @__PURE__ */ V("div", {
						class: "switch",
						role: "group",
						"aria-label": "Zoom",
						children: [
							/* @__PURE__ */ V("button", {
								type: "button",
								onClick: () => C(Q(x, .5, .5)),
								children: "Zoom in"
							}),
							/* @__PURE__ */ V("button", {
								type: "button",
								onClick: () => C(Q(x, 2, .5)),
								children: "Zoom out"
							}),
							/* @__PURE__ */ V("button", {
								type: "button",
								onClick: () => C({
									begin: 0,
									end: y
								}),
								children: "All"
							})
						]
					}),
					/* @__PURE__ */ V("form", {
						class: "search",
						role: "search",
						onSubmit: (e) => {
							e.preventDefault(), w();
						},
						children: [/* @__PURE__ */ V("input", {
							type: "search",
							placeholder: "Find an operation or op",
							"aria-label": "Find an operation or op",
							value: d,
							onInput: (e) => {
								f(e.currentTarget.value), m("");
							}
						}), /* @__PURE__ */ V("button", {
							type: "submit",
							class: "action",
							children: "Find next"
						})]
					}),
					/* @__PURE__ */ V("span", {
						class: "faint range",
						children: [
							W(x.begin),
							" – ",
							W(x.end),
							" of ",
							W(y)
						]
					})
				]
			}),
			g > 0 && /* @__PURE__ */ V(Gn, {
				windows: b.current,
				chosen: _,
				onChoose: (e) => a({
					window: e,
					begin: null,
					end: null
				})
			}),
			/* @__PURE__ */ V("p", {
				class: "note",
				role: "status",
				children: p
			}),
			r.embedded && /* @__PURE__ */ V("p", {
				class: "note",
				children: "This file holds the timeline at one level of detail; TensorBoard's tab shows every op."
			}),
			/* @__PURE__ */ V("div", {
				ref: h,
				class: "holder",
				children: [
					s instanceof Z && /* @__PURE__ */ V(H, {
						title: s.message,
						kind: "bad",
						hint: s.hint
					}),
					!(s instanceof Z) && !v && /* @__PURE__ */ V("p", {
						class: "note",
						children: "Opening the timeline…"
					}),
					v && l > 0 && /* @__PURE__ */ V(qn, {
						report: t,
						data: v,
						colors: S,
						width: l,
						stretch: x,
						dark: o,
						search: d.trim().toLowerCase(),
						onShow: C
					}, _)
				]
			})
		]
	});
}
function Gn({ windows: e, chosen: t, onChoose: n }) {
	let r = e[0]?.[0] ?? null, i = ([t, n], i) => {
		let a = t === null || r === null ? "" : `, ${i ? `${W(t - r)} after the first` : Kn(t)}`;
		return `${i + 1} of ${e.length}${a}, ${W(n)} long`;
	};
	return /* @__PURE__ */ V("div", {
		class: "heading windows",
		children: [
			/* @__PURE__ */ V("label", { children: [
				/* @__PURE__ */ V("span", {
					class: "faint",
					children: "Window"
				}),
				" ",
				/* @__PURE__ */ V("select", {
					value: t,
					onChange: (e) => n(Number(e.currentTarget.value)),
					children: e.map((e, t) => /* @__PURE__ */ V("option", {
						value: t,
						children: i(e, t)
					}, t))
				})
			] }),
			/* @__PURE__ */ V("div", {
				class: "switch",
				role: "group",
				"aria-label": "Other windows",
				children: [/* @__PURE__ */ V("button", {
					type: "button",
					disabled: t <= 0,
					onClick: () => n(t - 1),
					children: "Previous"
				}), /* @__PURE__ */ V("button", {
					type: "button",
					disabled: t >= e.length - 1,
					onClick: () => n(t + 1),
					children: "Next"
				})]
			}),
			/* @__PURE__ */ V("span", {
				class: "faint",
				children: "What lies between windows was not recorded."
			})
		]
	});
}
function Kn(e) {
	return (/* @__PURE__ */ new Date(e / 1e6)).toLocaleTimeString("en-GB");
}
function qn({ report: e, data: t, colors: n, width: r, stretch: i, dark: a, search: o, onShow: s }) {
	let c = z(null), [l, u] = L(null), d = z(null), f = B(() => t.lanes.flatMap((e, t) => e.pieces ? [t] : []), [t]), p = B(() => f.slice(0, Un), [f]), { tops: m, heights: h, height: g } = B(() => Tn(t, p), [t, p]), _ = B(() => Yn(p.map((e) => t.lanes[e])), [t, p]), v = B(() => o ? $n(t, o) : null, [t, o]);
	Se(() => {
		let e = c.current, o = requestAnimationFrame(() => {
			let o = window.devicePixelRatio || 1;
			(e.width !== r * o || e.height !== g * o) && (e.width = r * o, e.height = g * o);
			let s = e.getContext("2d");
			s.setTransform(o, 0, 0, o, 0, 0), Dn(s, r, g, {
				data: t,
				lanes: p,
				stretch: i,
				colors: n,
				look: er(a),
				matches: v,
				cursor: l
			});
		});
		return () => cancelAnimationFrame(o);
	}, [
		t,
		p,
		r,
		g,
		i,
		a,
		n,
		v,
		l
	]);
	let b = z({
		stretch: i,
		onShow: s
	});
	b.current = {
		stretch: i,
		onShow: s
	}, R(() => {
		let e = c.current, t = (t) => {
			let { stretch: n, onShow: r } = b.current;
			if (t.ctrlKey || t.metaKey) r(Q(n, Math.exp(t.deltaY / 200), t.offsetX / e.clientWidth));
			else if (Math.abs(t.deltaX) > Math.abs(t.deltaY) || t.shiftKey) r(zn(n, (t.deltaX || t.deltaY) / e.clientWidth));
			else return;
			t.preventDefault();
		};
		return e.addEventListener("wheel", t, { passive: !1 }), () => e.removeEventListener("wheel", t);
	}, []);
	let x = (e) => {
		if (d.current) {
			let t = (d.current.x - e.offsetX) / r;
			s(zn(d.current.stretch, t));
			return;
		}
		let n = (i.end - i.begin) / r, a = Fn(t, p, i.begin + e.offsetX * n, e.offsetY, n);
		u(a && {
			...a,
			x: e.offsetX,
			y: e.offsetY
		});
	}, S = (e) => {
		let n = {
			ArrowLeft: () => zn(i, -.2),
			ArrowRight: () => zn(i, .2),
			"+": () => Q(i, .5, .5),
			"=": () => Q(i, .5, .5),
			ArrowUp: () => Q(i, .5, .5),
			"-": () => Q(i, 2, .5),
			ArrowDown: () => Q(i, 2, .5),
			0: () => ({
				begin: 0,
				end: t.wall
			}),
			Home: () => ({
				begin: 0,
				end: t.wall
			})
		}[e.key];
		!n || e.ctrlKey || e.metaKey || e.altKey || (e.preventDefault(), s(n()));
	}, [C, w] = B(() => [Xn(t, p), Qn(t, p)], [t, p]);
	return /* @__PURE__ */ V(y, { children: [
		/* @__PURE__ */ V("div", {
			class: "canvas",
			style: { height: `${g}px` },
			children: [
				/* @__PURE__ */ V("canvas", {
					ref: c,
					tabIndex: 0,
					role: "img",
					style: {
						width: `${r}px`,
						height: `${g}px`
					},
					"aria-label": "Timeline. Left and right move, plus and minus zoom, 0 shows all.",
					onPointerDown: (e) => {
						d.current = {
							x: e.offsetX,
							stretch: i
						}, e.currentTarget.setPointerCapture(e.pointerId);
					},
					onPointerUp: () => d.current = null,
					onPointerMove: x,
					onPointerLeave: () => !d.current && u(null),
					onKeyDown: S,
					onDblClick: (e) => s(Q(i, .25, e.offsetX / r))
				}),
				p.map((n, r) => /* @__PURE__ */ V("span", {
					class: "lane",
					title: Jn(e, t.lanes[n]),
					style: {
						top: `${m[r]}px`,
						lineHeight: `${h[r]}px`
					},
					children: _[r]
				}, n)),
				l && t.lanes[l.lane]?.start[l.place] !== void 0 && /* @__PURE__ */ V("div", {
					class: "tip",
					style: {
						left: `${Hn + Math.min(l.x + 14, Math.max(r - 380, 0))}px`,
						top: `${l.y + 16}px`
					},
					children: [In(t, t.lanes[l.lane], l.place).map((e, t) => /* @__PURE__ */ V("div", {
						class: t ? "" : "strong",
						children: e
					}, t)), /* @__PURE__ */ V("div", {
						class: "faint",
						children: Jn(e, t.lanes[l.lane])
					})]
				})
			]
		}),
		/* @__PURE__ */ V("div", {
			class: "legends",
			children: [
				/* @__PURE__ */ V("span", {
					class: "faint",
					children: "threads"
				}),
				/* @__PURE__ */ V(wt, {
					keys: C,
					dark: a
				}),
				/* @__PURE__ */ V("span", {
					class: "faint",
					children: "devices"
				}),
				/* @__PURE__ */ V("ul", {
					class: "legend",
					children: w.map((e) => /* @__PURE__ */ V("li", { children: [/* @__PURE__ */ V("i", { style: { background: n.of(e, null, a) } }), $e(e, 40)] }, e))
				})
			]
		}),
		f.length > p.length && /* @__PURE__ */ V("p", {
			class: "note",
			children: [f.length - p.length, " more lines are not drawn."]
		}),
		/* @__PURE__ */ V("p", {
			class: "note",
			children: "Drag to move, Ctrl with the wheel or a double click to zoom; with the keyboard: arrows, + and −, 0 for all."
		})
	] });
}
function Jn(e, t) {
	return e.processes.length > 1 ? `${_t(e, t.process)} · ${t.name}` : t.name;
}
function Yn(e) {
	let t = /* @__PURE__ */ new Map(), n = new Set(e.map((e) => e.process)).size > 1;
	return e.map((e) => {
		let [r, i] = e.side === "device" ? e.name.split(" · ") : ["", e.name], a = (i ?? "").replace(/\/-?\d{6,}$/, "").replace(/^tf_XLA/, ""), o = r ? `${r.split("/").at(-1)} ${a}` : `${a} thread`, s = n ? `${e.process}: ${o}` : o, c = (t.get(s) ?? 0) + 1;
		return t.set(s, c), c > 1 ? `${s} ${c}` : s;
	});
}
function Xn(e, t) {
	let n = /* @__PURE__ */ new Set();
	for (let r of t) {
		let t = e.lanes[r];
		if (t.side === "host") for (let e of t.key) n.add(e);
	}
	return Be([...n].map((t) => e.categories[t] ?? ""));
}
var Zn = 12;
function Qn(e, t) {
	let n = /* @__PURE__ */ new Set();
	for (let r of t) {
		let t = e.lanes[r];
		if (t.side === "device") for (let r of new Set(t.key)) n.add(e.operations[r][0].split("/", 1)[0]);
	}
	return [...n].slice(0, Zn);
}
function $n(e, t) {
	let n = e.operations.map(([e]) => e.toLowerCase().includes(t));
	return (r, i) => {
		let a = e.labels[r.label[i]];
		return a ? n[a[0]] || a[1].toLowerCase().includes(t) : r.side === "device" && n[r.key[i]];
	};
}
function er(e) {
	let t = getComputedStyle(document.documentElement), n = (e) => t.getPropertyValue(e).trim();
	return {
		dark: e,
		text: n("--text"),
		faint: n("--faint"),
		line: n("--line"),
		panel: n("--panel"),
		accent: n("--accent")
	};
}
// src/views/registry.ts
var tr = [
	{
		key: "overview",
		title: "Overview",
		Component: nn
	},
	{
		key: "operations",
		title: "Operations",
		Component: Rt
	},
	{
		key: "timeline",
		title: "Timeline",
		Component: Wn
	},
	{
		key: "programs",
		title: "Programs",
		Component: gn
	},
	{
		key: "overhead",
		title: "Overhead",
		Component: Kt
	}
];
function nr(e) {
	return tr.find((t) => t.key === e) ?? tr[0];
}
// src/state.ts
var rr = [
	"auto",
	"operation",
	"scope",
	"function"
], $ = {
	run: null,
	name: null,
	view: "overview",
	group: "auto",
	corrected: !0,
	operation: null,
	sort: "wallTotal",
	filter: "",
	window: 0,
	begin: null,
	end: null
}, ir = "rlscope", ar = `p.${ir}.`;
function or(e) {
	let t = new URLSearchParams(e.replace(/^#/, "")), n = (e) => t.get(ar + e), r = (e) => {
		let t = n(e), r = t === null ? NaN : Number(t);
		return Number.isFinite(r) ? r : null;
	}, i = n("group");
	return {
		run: n("run"),
		name: n("name"),
		view: n("view") ?? $.view,
		group: i && rr.includes(i) ? i : $.group,
		corrected: n("figures") !== "raw",
		operation: n("operation"),
		sort: n("sort") ?? $.sort,
		filter: n("filter") ?? "",
		window: Math.max(0, Math.floor(r("window") ?? 0)),
		begin: r("begin"),
		end: r("end")
	};
}
function sr(e) {
	let t = [], n = (e, n, r = null) => {
		n !== null && n !== r && t.push([ar + e, String(n)]);
	};
	return n("run", e.run), n("name", e.name), n("view", e.view, $.view), n("group", e.group, $.group), n("figures", e.corrected ? null : "raw"), n("operation", e.operation), n("sort", e.sort, $.sort), n("filter", e.filter, ""), n("window", e.window, 0), n("begin", e.begin === null ? null : Math.round(e.begin)), n("end", e.end === null ? null : Math.round(e.end)), t.map(([e, t]) => `${e}=${encodeURIComponent(t)}`).join("&");
}
function cr() {
	try {
		if (window.parent !== window && window.parent.location.href) return window.parent;
	} catch {}
	return window;
}
function lr() {
	return or(cr().location.hash);
}
function ur(e) {
	let t = cr(), n = sr(e), r = t !== window;
	if (r && !/^#rlscope(&|$)/.test(t.location.hash)) return;
	let i = r ? `#${ir}${n && `&${n}`}` : n && `#${n}`;
	if (t.location.hash !== i) try {
		t.history.replaceState(t.history.state, "", i || t.location.pathname + t.location.search);
	} catch {}
}
// src/components/Toolbar.tsx
var dr = {
	auto: "best known",
	operation: "operation",
	scope: "named scope",
	function: "function"
};
function fr({ page: e, chosen: t, listing: n, report: r, viewer: i }) {
	let { state: a, change: o, source: s } = e, c = r !== null && at(r), l = c && a.corrected;
	return /* @__PURE__ */ V("header", {
		class: "toolbar",
		children: [/* @__PURE__ */ V("nav", {
			"aria-label": "Views",
			children: tr.map(({ key: e, title: t }) => /* @__PURE__ */ V("button", {
				type: "button",
				"aria-current": e === nr(a.view).key ? "page" : void 0,
				onClick: () => o({ view: e }),
				children: t
			}, e))
		}), /* @__PURE__ */ V("div", {
			class: "choices",
			children: [
				/* @__PURE__ */ V("label", { children: [/* @__PURE__ */ V("span", { children: "Recording" }), s.embedded ? /* @__PURE__ */ V("span", {
					class: "fixed",
					children: t.name
				}) : /* @__PURE__ */ V("select", {
					value: n.recordings.indexOf(t),
					title: `${pr(t)} (${Xe(t.bytes)})`,
					onChange: (e) => {
						let { run: t, name: r } = n.recordings[Number(e.currentTarget.value)];
						o({
							run: t,
							name: r,
							operation: null,
							window: 0,
							begin: null,
							end: null
						});
					},
					children: n.recordings.map((e, t) => /* @__PURE__ */ V("option", {
						value: t,
						children: pr(e)
					}, `${e.run}|${e.name}`))
				})] }),
				!s.embedded && /* @__PURE__ */ V("label", { children: [/* @__PURE__ */ V("span", { children: "Names from" }), /* @__PURE__ */ V("select", {
					value: a.group,
					onChange: (e) => o({
						group: e.currentTarget.value,
						operation: null
					}),
					children: rr.map((e) => /* @__PURE__ */ V("option", {
						value: e,
						children: dr[e]
					}, e))
				})] }),
				/* @__PURE__ */ V("div", {
					class: "switch",
					role: "group",
					"aria-label": "Figures",
					title: c ? "What profiling itself cost is subtracted, or not" : "This report has no corrected figures",
					children: [/* @__PURE__ */ V("button", {
						type: "button",
						"aria-pressed": !l,
						onClick: () => o({ corrected: !1 }),
						children: "Raw"
					}), /* @__PURE__ */ V("button", {
						type: "button",
						"aria-pressed": l,
						disabled: !c,
						onClick: () => o({ corrected: !0 }),
						children: "Corrected"
					})]
				}),
				i && /* @__PURE__ */ V("a", {
					class: "action",
					href: i,
					target: "_top",
					children: "Trace viewer"
				})
			]
		})]
	});
}
function pr(e) {
	let t = e.run === "." ? "" : `${e.run} · `, n = e.sessions.length;
	return n > 1 ? `${t}all ${n} windows, ${e.sessions[0]}` : `${t}${e.name}`;
}
// src/useReport.ts
var mr = 300;
function hr(e, t, n) {
	let [r, i] = L(null), [a, o] = L(0);
	return R(() => {
		let [n, r] = [!1, 0], o = async (a) => {
			try {
				let s = await e.report(t, a);
				if (n) return;
				i(s), vt(s) && (r = window.setTimeout(() => void o(!1), mr));
			} catch (e) {
				n || i(e instanceof Z ? e : new Z(String(e), ""));
			}
		};
		return o(a > 0), () => {
			n = !0, window.clearTimeout(r);
		};
	}, [
		e,
		t,
		n,
		a
	]), [r, Ce(() => o((e) => e + 1), [])];
}
// src/theme.ts
function gr() {
	try {
		return window.parent === window ? null : window.parent.document.body;
	} catch {
		return null;
	}
}
var _r = () => window.matchMedia("(prefers-color-scheme: dark)");
function vr() {
	let e = gr();
	return e ? e.classList.contains("dark-mode") : _r().matches;
}
function yr() {
	let [e, t] = L(vr);
	return R(() => {
		let e = () => t(vr()), n = gr(), r = new MutationObserver(e);
		return n && r.observe(n, {
			attributes: !0,
			attributeFilter: ["class"]
		}), _r().addEventListener("change", e), () => {
			r.disconnect(), _r().removeEventListener("change", e);
		};
	}, []), R(() => {
		document.documentElement.classList.toggle("dark", e);
	}, [e]), e;
}
// src/App.tsx
function br({ source: e }) {
	let t = yr(), [n, r] = L(lr), [i, a] = L(null);
	R(() => ur(n), [n]), R(() => {
		let e = () => r(lr());
		return window.addEventListener("hashchange", e), () => window.removeEventListener("hashchange", e);
	}, []);
	let o = xr(e, a), s = i && !(i instanceof Z) ? i.recordings : [], c = s.find((e) => e.run === n.run && e.name === n.name) ?? s[0] ?? null, l = {
		source: e,
		state: n,
		dark: t,
		change: Ce((e) => r((t) => ({
			...t,
			...c && {
				run: c.run,
				name: c.name
			},
			...e
		})), [c?.run, c?.name])
	};
	return i === null ? /* @__PURE__ */ V("main", {
		class: "page",
		children: /* @__PURE__ */ V(H, { title: "Looking for recordings…" })
	}) : i instanceof Z ? /* @__PURE__ */ V("main", {
		class: "page",
		children: /* @__PURE__ */ V(H, {
			title: i.message,
			kind: "bad",
			hint: i.hint,
			action: "Try again",
			onAction: o
		})
	}) : c ? /* @__PURE__ */ V(Cr, {
		page: l,
		chosen: c,
		listing: i
	}, `${c.run}|${c.name}`) : /* @__PURE__ */ V("main", {
		class: "page",
		children: /* @__PURE__ */ V(Le, {
			listing: i,
			onRefresh: o
		})
	});
}
function xr(e, t) {
	let n = z(0), r = Ce(async (i) => {
		window.clearTimeout(n.current);
		try {
			let a = await e.recordings(i);
			a.looking && (n.current = window.setTimeout(() => void r(!1), 500)), (!a.looking || a.recordings.length) && t(a);
		} catch (e) {
			t(e instanceof Z ? e : new Z(String(e), ""));
		}
	}, [e, t]);
	return R(() => {
		r(!1);
		let e = Sr();
		return e && (e.reload = () => void r(!0)), () => window.clearTimeout(n.current);
	}, [r]), Ce(() => void r(!0), [r]);
}
function Sr() {
	try {
		return window.frameElement;
	} catch {
		return null;
	}
}
function Cr({ page: e, chosen: t, listing: n }) {
	let { source: r, state: i } = e, a = B(() => ({
		run: t.run,
		name: t.name,
		group: i.group
	}), [
		t.run,
		t.name,
		i.group
	]), [o, s] = hr(r, a, `${t.changed}|${t.bytes}`), [c, l] = L(null);
	R(() => {
		t.sessions.length === 1 && r.traceViewer(a).then(l);
	}, [
		r,
		a,
		t.sessions.length
	]);
	let u = o && !(o instanceof Z) && !vt(o) ? o : null, d = i.corrected && u !== null && at(u), f = {
		...e,
		state: {
			...i,
			corrected: d
		}
	}, { key: p, Component: m } = nr(i.view);
	return /* @__PURE__ */ V(y, { children: [/* @__PURE__ */ V(fr, {
		page: e,
		chosen: t,
		listing: n,
		report: u,
		viewer: c
	}), /* @__PURE__ */ V("main", {
		class: "page",
		id: "view",
		children: [
			o === null && /* @__PURE__ */ V(H, { title: "Opening the recording…" }),
			o instanceof Z && /* @__PURE__ */ V(H, {
				title: "This recording cannot be shown",
				kind: "bad",
				hint: o.hint,
				action: "Try again",
				onAction: s,
				children: /* @__PURE__ */ V("p", { children: o.message })
			}),
			o && !(o instanceof Z) && vt(o) && /* @__PURE__ */ V(Pe, { progress: o }),
			u && /* @__PURE__ */ V(m, {
				page: f,
				report: u,
				asked: a
			}, p)
		]
	})] });
}
// src/style.css?inline
var wr = ":root{--text:#1b1f24;--faint:#59636e;--line:#dde2e8;--panel:#f5f7f9;--page:#fff;--accent:#1a5fb4;--bad:#b3261e;--bad-panel:#fdf0ef;--good:#1d6b3f;--warn:#7a4b00;--warn-panel:#fff6e2;--fill:#dbe8f8;--lightningcss-light:initial;--lightningcss-dark: ;color-scheme:light}:root.dark{--text:#e6e9ee;--faint:#a3adba;--line:#3a424d;--panel:#262c35;--page:#1b2027;--accent:#86b7f5;--bad:#ff9c94;--bad-panel:#3b2523;--good:#7fd0a0;--warn:#f4c56c;--warn-panel:#372e1b;--fill:#2b405c;--lightningcss-light: ;--lightningcss-dark:initial;color-scheme:dark}html,body{background:var(--page);margin:0}#rlscope{color:var(--text);font:14px/1.45 system-ui,-apple-system,Segoe UI,Roboto,sans-serif}#rlscope *{box-sizing:border-box}.page{max-width:2600px;margin:0 auto;padding:16px 24px 40px}h1{margin:0 0 8px;font-size:20px;font-weight:600}h2{overflow-wrap:anywhere;margin:0;font-size:16px;font-weight:600}h3{margin:18px 0 4px;font-size:14px;font-weight:600}p{margin:4px 0}section{margin-bottom:24px}code,pre{font:12.5px/1.45 ui-monospace,SF Mono,Menlo,Consolas,monospace}.note,.faint{color:var(--faint)}.note{max-width:150ch}.number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}.hidden{clip-path:inset(50%);white-space:nowrap;width:1px;height:1px;position:absolute;overflow:hidden}button,select,input{font:inherit;color:inherit}button{cursor:pointer}button:disabled{cursor:default;color:var(--faint);opacity:.75}:focus-visible{outline:2px solid var(--accent);outline-offset:1px}select,input{background:var(--page);border:1px solid var(--line);border-radius:5px;max-width:100%;padding:4px 8px}.action{background:var(--page);border:1px solid var(--line);color:var(--accent);white-space:nowrap;border-radius:5px;padding:4px 12px;text-decoration:none}.link{text-align:left;color:inherit;background:0 0;border:0;padding:0}.link.accent{color:var(--accent)}.link:hover{text-decoration:underline}.toolbar{z-index:5;background:var(--panel);border-bottom:1px solid var(--line);flex-wrap:wrap;align-items:center;gap:6px 24px;padding:0 24px;display:flex;position:sticky;top:0}.toolbar nav{display:flex}.toolbar nav button{background:0 0;border:0;border-bottom:3px solid #0000;padding:12px 12px 9px}.toolbar nav button:hover{color:var(--accent)}.toolbar nav [aria-current=page]{border-color:var(--accent);color:var(--accent);font-weight:600}.choices{flex-wrap:wrap;align-items:center;gap:6px 16px;margin-left:auto;padding:5px 0;display:flex}.choices label{align-items:center;gap:6px;display:flex}.choices label>span:first-child{color:var(--faint)}.choices select{max-width:260px}.switch{display:inline-flex}.switch button{background:var(--page);border:1px solid var(--line);margin-left:-1px;padding:3px 10px}.switch button:first-child{border-radius:5px 0 0 5px}.switch button:last-child{border-radius:0 5px 5px 0}.switch [aria-pressed=true]{background:var(--fill);color:var(--text);opacity:1;font-weight:600}.message{border:1px solid var(--line);border-radius:8px;max-width:90ch;margin:6vh auto 0;padding:24px}.message.bad{border-color:var(--bad);background:var(--bad-panel)}.message.bad h1{color:var(--bad)}.message h1,.message p,.message li{overflow-wrap:anywhere}.message pre{background:var(--panel);border-radius:6px;padding:12px;overflow-x:auto}.message progress{width:100%;height:14px;accent-color:var(--accent)}.message .action{margin-top:12px}.health{border-left:4px solid var(--line);background:var(--panel);border-radius:0 6px 6px 0;padding:8px 14px}.health.degraded{background:var(--warn-panel);border-color:#e0a100}.health.degraded strong{color:var(--warn)}.health.unusable{border-color:var(--bad);background:var(--bad-panel)}.health.unusable strong{color:var(--bad)}.health div+div{margin-top:8px}.health p{color:var(--text)}.tiles{grid-template-columns:repeat(auto-fit,minmax(120px,1fr));gap:10px;display:grid}.tile{background:var(--panel);border-radius:8px;flex-direction:column;padding:10px 14px;display:flex}.tile .title{color:var(--faint)}.tile .main{font-variant-numeric:tabular-nums;font-size:clamp(17px,1.6vw,24px);font-weight:600;line-height:1.3}.tile .detail{color:var(--faint);font-size:13px}.summary{overflow-wrap:anywhere;max-width:150ch;margin-bottom:12px;font-size:16px}.sound{color:var(--faint);margin:0 0 12px}.sound b{color:var(--good);font-weight:600}.windows{margin-bottom:4px}ul.note{margin:4px 0;padding-left:20px}.legend{flex-wrap:wrap;gap:3px 16px;margin:8px 0;padding:0;list-style:none;display:flex}.legend li{align-items:center;gap:6px;font-size:13px;display:flex}.legend i,.swatch{border-radius:2px;flex:none;width:12px;height:12px;display:inline-block}table{border-collapse:collapse;width:100%}th{text-align:left;font-weight:400}thead th{color:var(--faint);vertical-align:bottom;font-size:13px}.bars th{text-overflow:ellipsis;white-space:nowrap;width:1%;max-width:34vw;padding:3px 14px 3px 0;overflow:hidden}.bars .number{width:1%;padding-left:14px}.bars tr:hover td,.bars tr:hover th{background:var(--panel)}.stacked{width:100%;height:18px;display:flex;position:relative}.stacked span{min-width:1px;height:100%}.stacked span:first-child{border-radius:2px 0 0 2px}.pale{box-shadow:inset 0 0 0 1px color-mix(in srgb, var(--faint) 75%, transparent)}.kept{background:#2f6fd0}.removed{background:#e39aa9}.whisker{border-top:2px solid var(--text);height:0;position:absolute;top:50%}.whisker:before,.whisker:after{content:\"\";border-left:2px solid var(--text);height:10px;position:absolute;top:-6px}.whisker:after{right:0}.findings{margin:8px 0 0;padding:0;list-style:none}.findings .hint:before{content:\"→ \";color:var(--accent)}.more summary{cursor:pointer;color:var(--accent);padding:8px 0}.findings li{border-top:1px solid var(--line);align-items:flex-start;gap:12px;padding:10px 0;display:flex}.badge{color:var(--faint);white-space:nowrap;border:1px solid;border-radius:10px;padding:0 9px;font-size:12px;display:inline-block}.high .badge{color:var(--bad)}.medium .badge,.warn .badge{color:var(--warn)}.warn .badge{margin-left:8px}.facts{color:var(--faint);flex-wrap:wrap;gap:2px 16px;font-size:13px;display:flex}.facts .link{color:var(--accent)}.about{overflow-wrap:anywhere;max-width:none}.heading{flex-wrap:wrap;align-items:center;gap:8px 16px;margin-bottom:10px;display:flex}.heading input{width:220px;margin-left:auto}.icicle{width:100%;position:relative;overflow:hidden}.icicle button{border:0;border-right:1px solid var(--page);text-align:left;white-space:nowrap;text-overflow:ellipsis;border-radius:0;height:23px;padding:0 5px;font-size:12.5px;line-height:23px;position:absolute;overflow:hidden}.icicle .few{white-space:nowrap;text-overflow:ellipsis;background:var(--panel);height:23px;color:var(--faint);padding:0 5px;font-size:12.5px;line-height:23px;position:absolute;overflow:hidden}.icicle button:hover{filter:brightness(1.08)}.icicle [aria-pressed=true]{box-shadow:inset 0 0 0 2px var(--text)}.icicle button:focus-visible{outline-offset:-2px}.scroll{overflow-x:auto}.beside{grid-template-columns:minmax(0,1fr) minmax(320px,32%);align-items:start;gap:24px;display:grid}.tree thead th{border-bottom:1px solid var(--line);padding:0 8px 4px}.tree thead button{color:inherit;background:0 0;border:0;padding:0}.tree thead .number button{text-align:right}.tree thead .number div{font-size:12px}.tree thead th:not(.name){min-width:56px}.tree thead [aria-sort=descending] button:after{content:\" ↓\"}.tree thead [aria-sort=ascending] button:after{content:\" ↑\"}.tree thead [aria-sort]:not([aria-sort=none]){color:var(--text);font-weight:600}.tree tbody tr{cursor:pointer}.tree tbody tr:hover{background:var(--panel)}.tree tbody tr[aria-selected=true]{background:var(--fill)}.tree td,.tree tbody th{border-bottom:1px solid var(--line);padding:2px 8px;position:relative}.tree .name>div{white-space:nowrap;align-items:center;gap:6px;display:flex}.tree .name .text{text-overflow:ellipsis;max-width:34ch;overflow:hidden}.twist{width:16px;color:var(--faint);background:0 0;border:0;flex:none;padding:0}.tree td .fill{background:var(--accent);opacity:.55;height:3px;position:absolute;bottom:0;left:0}.mini{background:var(--line);border-radius:2px;width:90px;height:9px;display:flex;overflow:hidden}.forward{background:#6aa3e8}.recompute{background:#b48ad8}.backward{background:#e08a4f}.evidence{align-items:center;gap:8px;font-size:12.5px;display:flex}.evidence .mini{flex:none;width:56px}.e-mark,.e-annotation{background:#2b8a57}.e-scope{background:#63b487}.e-function{background:#9fcfb4}.e-split{background:#e0c15a}.e-inherited{background:#d9a25f}.e-host{background:#9aa7b5}.e-none{background:#c26a6a}.beside .tree td,.beside .tree tbody th,.beside .tree thead th{padding-left:5px;padding-right:5px}.beside .evidence .faint{display:none}.beside .directions{width:64px}.details{background:var(--panel);border-radius:8px;max-height:calc(100vh - 76px);padding:14px 16px;position:sticky;top:60px;overflow:auto}.details h2{-webkit-line-clamp:4;-webkit-box-orient:vertical;display:-webkit-box;overflow:hidden}.details .heading{flex-wrap:nowrap;justify-content:space-between;margin-bottom:2px}.close{background:0 0;border:0;font-size:20px;line-height:1}.plain th,.plain td{border-bottom:1px solid var(--line);vertical-align:top;padding:4px 10px 4px 0}.plain .number{padding-left:10px}.plain.narrow{width:auto;min-width:420px}.plain tbody tr:hover{background:var(--panel)}.details .plain{margin-top:10px;font-size:13px}.details .plain.ops{table-layout:auto}.ops td:first-child{overflow-wrap:anywhere}.opname{-webkit-line-clamp:2;-webkit-box-orient:vertical;font-size:12px;display:-webkit-box;overflow:hidden}.categories{grid-template-columns:auto 1fr;gap:2px 12px;margin:10px 0;font-size:13px;display:grid}.categories dt{color:var(--faint)}.categories dd{margin:0}.programs tr.warn th{color:var(--warn);font-weight:600}.wide{width:40%}.bars .wide{width:auto}.search{gap:6px;margin-left:auto;display:flex}.search input{margin:0}.canvas{padding-left:150px;position:relative}.canvas canvas{cursor:grab;touch-action:pan-y;display:block}.canvas canvas:active{cursor:grabbing}.lane{text-overflow:ellipsis;white-space:nowrap;width:142px;color:var(--faint);font-size:12.5px;position:absolute;left:0;overflow:hidden}.legends{grid-template-columns:142px 1fr;align-items:center;gap:0 8px;margin-top:10px;font-size:12.5px;display:grid}.legends .legend{margin:4px 0}.tip{z-index:4;pointer-events:none;background:var(--page);border:1px solid var(--line);overflow-wrap:anywhere;border-radius:6px;max-width:380px;max-height:240px;padding:7px 11px;font-size:13px;position:absolute;overflow:hidden;box-shadow:0 3px 14px #00000038}.tip .strong{font-weight:600}@media (max-width:1250px){.beside{grid-template-columns:minmax(0,1fr)}.beside .tree td,.beside .tree tbody th,.beside .tree thead th{padding-left:5px;padding-right:5px}.beside .evidence .faint{display:none}.beside .directions{width:64px}.details{max-height:none;position:static}.page{padding:14px 14px 40px}.toolbar{padding:0 14px}}";
// src/main.tsx
function Tr() {
	let e = document.createElement("style");
	e.textContent = wr, document.head.append(e), document.documentElement.lang = "en", document.title = "RL-Scope";
	let t = document.createElement("div");
	t.id = "rlscope", document.body.append(t), N(/* @__PURE__ */ V(br, { source: St() }), t);
}
document.getElementById("rlscope-data") && Tr();
export { Tr as render };
